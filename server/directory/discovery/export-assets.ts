import type { Asset } from "@gatehouse/contracts/discovery";
import { csvCell } from "../../kernel/text/csv.ts";
import { eachAsset } from "../../store/discovery/assets.ts";
import type { Directory } from "../writes/write.ts";
import { readAsset } from "./asset-record.ts";

const COLUMNS = [
  "id",
  "name",
  "asset_type",
  "governance_status",
  "status",
  "owner",
  "criticality",
  "tags",
  "endpoint",
  "description",
  "source_kind",
  "source_id",
  "created_at",
  "updated_at",
] as const;

const flat = (asset: Asset): Record<(typeof COLUMNS)[number], unknown> => ({
  ...asset,
  tags: asset.tags.join(" "),
  source_kind: asset.source?.kind ?? null,
  source_id: asset.source?.id ?? null,
});

const property = (name: string, value: string | null) => (value === null ? [] : [{ name: `gw:${name}`, value }]);

/** Models and programs become components and network services become services; a property carries types that the format lacks. */
function cyclonedxPart(asset: Asset): { readonly list: "components" | "services"; readonly value: object } {
  const common = {
    "bom-ref": asset.id,
    name: asset.name,
    ...(asset.description === null ? {} : { description: asset.description }),
    properties: [
      ...property("asset_type", asset.asset_type),
      ...property("governance_status", asset.governance_status),
      ...property("status", asset.status),
      ...property("owner", asset.owner),
      ...property("criticality", asset.criticality),
    ],
  };
  if (asset.asset_type === "model") return { list: "components", value: { type: "machine-learning-model", ...common } };
  if (asset.asset_type === "local_ai_client" || asset.asset_type === "local_mcp_server" || asset.asset_type === "skill")
    return { list: "components", value: { type: "application", ...common } };
  return { list: "services", value: { ...common, ...(asset.endpoint === null ? {} : { endpoints: [asset.endpoint] }) } };
}

async function* each({ db }: Pick<Directory, "db">, tenantId: string): AsyncGenerator<Asset[]> {
  for await (const rows of eachAsset(db, tenantId)) yield rows.map(readAsset);
}

async function* asJson(directory: Pick<Directory, "db">, tenantId: string): AsyncGenerator<string> {
  let before = '{"assets":[';
  for await (const assets of each(directory, tenantId)) {
    yield before + assets.map((asset) => JSON.stringify(asset)).join(",");
    before = ",";
  }
  yield before === "," ? "]}\n" : `${before}]}\n`;
}

async function* asCsv(directory: Pick<Directory, "db">, tenantId: string): AsyncGenerator<string> {
  yield `${COLUMNS.join(",")}\r\n`;
  for await (const assets of each(directory, tenantId))
    yield assets.map((asset) => `${COLUMNS.map((column) => csvCell(flat(asset)[column])).join(",")}\r\n`).join("");
}

async function* asCyclonedx(directory: Pick<Directory, "db">, tenantId: string): AsyncGenerator<string> {
  yield '{"bomFormat":"CycloneDX","specVersion":"1.6","version":1';
  for (const list of ["components", "services"] as const) {
    let before = `,"${list}":[`;
    for await (const assets of each(directory, tenantId)) {
      const parts = assets.map(cyclonedxPart).filter((part) => part.list === list);
      if (parts.length === 0) continue;
      yield before + parts.map(({ value }) => JSON.stringify(value)).join(",");
      before = ",";
    }
    yield before === "," ? "]" : `${before}]`;
  }
  yield "}\n";
}

export const ASSET_EXPORTS = {
  json: { pieces: asJson, media: "application/json", file: "assets.json" },
  csv: { pieces: asCsv, media: "text/csv", file: "assets.csv" },
  cyclonedx: { pieces: asCyclonedx, media: "application/json", file: "assets.cdx.json" },
} as const;
