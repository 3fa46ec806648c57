import type { KbConnector, KbConnectorCreate, KbConnectorQuery, KbConnectorUpdate } from "@gatehouse/contracts/kb-connectors";
import { uuid } from "../../kernel/ids.ts";
import {
  type KbConnectorInsert,
  kbConnectorNamed,
  type KbConnectorPatch,
  type KbConnectorRow,
  kbConnectorStore,
} from "../../store/kb-connectors.ts";
import { knowledgeBaseStore } from "../../store/knowledge-bases.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

const RESOURCE = "kb-connectors";

const read = (row: KbConnectorRow): KbConnector => ({
  id: row.id,
  tenant_id: row.tenant_id,
  name: row.name,
  knowledge_base_id: row.knowledge_base_id,
  connector_type: row.connector_type,
  location: row.location,
  mapping_file: row.mapping_file,
  every_minutes: row.every_minutes,
  enabled: row.enabled,
  synced_at: row.synced_at?.toISOString() ?? null,
  problem: row.problem,
  skipped: row.skipped,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const kbConnectors = records<
  KbConnectorRow,
  KbConnectorInsert & { id: string },
  KbConnectorPatch,
  KbConnector,
  KbConnectorCreate,
  KbConnectorUpdate,
  KbConnectorQuery,
  string
>({
  resource: RESOURCE,
  noun: "connector",
  store: kbConnectorStore,
  read,
  tenantOf: (row) => row.tenant_id,
  twin: (write, tenantId, candidate) => kbConnectorNamed(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    if ((await knowledgeBaseStore.find(write.trx, tenantId, body.knowledge_base_id)) === undefined)
      throw invalidField("knowledge_base_id", "is no knowledge base of this tenant");
    return {
      ...body,
      mapping_file: body.mapping_file ?? "permissions.json",
      every_minutes: body.every_minutes ?? 15,
      enabled: body.enabled ?? true,
      id: uuid(),
      tenant_id: tenantId,
      problem: null,
      due_at: write.now,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, _tenantId, row, body) {
    const before: Readonly<Record<string, unknown>> = row;
    const changes = Object.entries(body).some(([member, value]) => before[member] !== value);
    return { ...body, ...(changes ? { due_at: write.now } : {}), updated_at: write.now };
  },
  dependents: async () => [],
  notify: () => undefined,
});

/** Has it looked at as soon as somebody can. */
export async function syncConnector(write: Write, tenantId: string, id: string): Promise<KbConnector> {
  const row = await kbConnectorStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("connector");
  await kbConnectorStore.update(write.trx, id, { due_at: write.now });
  write.log({ tenant_id: tenantId, action: "sync", resource: RESOURCE, resource_id: id, after: read(row) });
  return read(row);
}
