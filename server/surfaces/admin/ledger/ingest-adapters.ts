import { ingestAdapters, inventoryTaken } from "@gatehouse/contracts/discovery";
import type { InventoryFormat } from "../../../directory/discovery/read-inventory.ts";
import { takeInventory } from "../../../directory/discovery/take-inventory.ts";
import { invalidFields, isRefusal, Refused } from "../../../kernel/errors.ts";
import { readBody } from "../../../road/request/read-body.ts";
import { formFile } from "../../../wire/http/form-file.ts";
import { DISCOVERY_EVENTS_BYTES } from "../../ingest/discovery-events.ts";
import { operation, type AdminOperation } from "../operation.ts";

const PATH = "/v1/admin/discovery/ingest-adapters";
const MIB = 1024 * 1024;
const MAX_BYTES = 8 * MIB;
/** The largest file, with room for the form around it. */
const UPLOAD_BYTES = MAX_BYTES + 64 * 1024;

interface FileAdapter {
  readonly id: InventoryFormat;
  readonly path: string;
  readonly title: string;
  readonly about: string;
  readonly takes: readonly string[];
}

const FILES: readonly FileAdapter[] = [
  {
    id: "cyclonedx",
    path: `${PATH}/cyclonedx`,
    title: "CycloneDX",
    about:
      "Models of an ML-BOM, and services that are tool servers or agents: by the property gw:asset_type, or by what they call themselves.",
    takes: ["CycloneDX 1.5, 1.6 or 1.7 in JSON"],
  },
  {
    id: "agent_inventory",
    path: `${PATH}/agent-inventory`,
    title: "Inventory of agents",
    about: "Agents as A2A cards or as {agents: [{name, url, ...}]}, tool servers as server.json files of the MCP registry.",
    takes: ["A2A agent cards", "MCP server.json", "JSON with agents or servers"],
  },
  {
    id: "mdm_csv",
    path: `${PATH}/mdm-csv`,
    title: "Export of a device manager",
    about: "Columns device and application, and version, device name and last seen where they are. Only AI clients are kept.",
    takes: ["CSV with a header line"],
  },
];

const CATALOG = [
  {
    id: "scout_events" as const,
    path: "/v1/discovery/events",
    title: "Collectors",
    about: "Events signed with a registered key, as `gatehouse scout` sends them, to the runtime plane.",
    takes: ["application/json with X-Gw-Collector-Signature"],
    max_bytes: DISCOVERY_EVENTS_BYTES,
  },
  ...FILES.map((file) => ({ ...file, takes: [...file.takes], max_bytes: MAX_BYTES })),
];

async function fileOf(request: Request): Promise<Uint8Array> {
  const body = await readBody(request, UPLOAD_BYTES);
  if (isRefusal(body)) throw new Refused(body);
  const file = await formFile(body, request.headers.get("content-type"), "file");
  if (file === null) throw invalidFields("invalid_body", [{ field: "file", message: "is required, as a file of multipart/form-data" }]);
  if (file.byteLength > MAX_BYTES)
    throw invalidFields("body_too_large", [{ field: "file", message: `is larger than ${MAX_BYTES / MIB} MiB` }]);
  return file;
}

export const ingestAdapterOperations: readonly AdminOperation[] = [
  operation({
    tag: "Discovery",
    access: "discovery:read",
    reach: "none",
    method: "GET",
    path: PATH,
    summary: "List import adapters for inventories",
    answer: { status: 200, about: "Each with what it takes and where", schema: ingestAdapters },
    run: async () => ({ adapters: CATALOG }),
  }),
  ...FILES.map(({ id, path, title, about }) =>
    operation({
      tag: "Discovery",
      access: "discovery:write",
      reach: "one",
      method: "POST",
      path,
      summary: `Import: ${title}`,
      description: `${about} multipart/form-data with the file as \`file\`, at most 8 MiB. Imported completely or refused completely.`,
      upload: "file",
      answer: { status: 200, about: "What was found in it", schema: inventoryTaken },
      async run(call) {
        const bytes = await fileOf(call.request);
        return call.write((write) => takeInventory(write, call.tenantId, id, bytes, call.services.gatewayOrigins));
      },
    }),
  ),
];
