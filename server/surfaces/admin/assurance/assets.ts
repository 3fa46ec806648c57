import { asset, assetCreate, assetExportQuery, assetQuery, assetsSynced, assetUpdate } from "@gatehouse/contracts/discovery";
import { assets, syncAssets } from "../../../directory/discovery/assets.ts";
import { ASSET_EXPORTS } from "../../../directory/discovery/export-assets.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { resource } from "../resource.ts";
import { streamedAnswer } from "../streamed-answer.ts";

const PATH = "/v1/admin/assets";
const TAG = "Assets";

export const assetOperations: readonly AdminOperation[] = [
  // Listed before the record's own path, which would match as well.
  operation({
    tag: TAG,
    access: "assets:write",
    reach: "one",
    method: "POST",
    path: `${PATH}/sync`,
    summary: "Bring the registry up to date",
    description:
      "With every model, tool server, virtual server, agent, skill, knowledge base and AI System, and everything discovered. What " +
      "no longer exists is marked as gone and keeps what people entered.",
    answer: { status: 200, about: "What changed", schema: assetsSynced },
    run: (call) => call.write((write) => syncAssets(write, call.tenantId)),
  }),
  operation({
    tag: TAG,
    access: "assets:read",
    reach: "one",
    method: "GET",
    path: `${PATH}/export`,
    summary: "Export the registry",
    description: "As JSON, CSV, or a CycloneDX 1.6 inventory.",
    query: assetExportQuery,
    answer: { status: 200, about: "All assets", media: ["application/json", "text/csv"] },
    run(call) {
      const { pieces, media, file } = ASSET_EXPORTS[call.query.format];
      return streamedAnswer(pieces(call.services.directory, call.tenantId), media, file);
    },
  }),
  ...resource({
    path: PATH,
    key: "assets",
    noun: "asset",
    article: "an",
    tag: TAG,
    area: "assets",
    table: "assets",
    records: assets,
    query: assetQuery,
    create: assetCreate,
    update: assetUpdate,
    read: asset,
    notes: {
      update:
        "Members left out of the body stay unchanged. Name, type, endpoint and status of a synced asset follow what it was synced from.",
      remove: "A synced asset returns with the next sync while its source exists.",
    },
  }),
];
