import type { KbConnector, KbConnectorCreate, KbConnectorQuery, KbConnectorUpdate } from "@gatehouse/contracts/kb-connectors";
import { uuid } from "../../kernel/ids.ts";
import { sealContext } from "../../kernel/secrets.ts";
import {
  type KbConnectorInsert,
  kbConnectorIdByName,
  type KbConnectorPatch,
  type KbConnectorRow,
  kbConnectorStore,
} from "../../store/knowledge/kb-connectors.ts";
import { knowledgeBaseStore } from "../../store/knowledge/knowledge-bases.ts";
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
  has_credential: row.credential_sealed !== null,
  every_minutes: row.every_minutes,
  enabled: row.enabled,
  synced_at: row.synced_at?.toISOString() ?? null,
  problem: row.problem,
  skipped: row.skipped,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const isAddress = (location: string) => /^https?:/.test(location);

/** Only Git repositories may be given by address, and only addresses may have a credential. */
function checkLocation(type: string, location: string, credential: boolean): void {
  if (isAddress(location) && type !== "git") throw invalidField("location", "may be an address of a Git repository only");
  if (credential && !isAddress(location)) throw invalidField("credential", "is for a Git repository at an address only");
}

function sealedCredential({ directory }: Write, id: string, credential: string | null | undefined) {
  if (credential === undefined) return {};
  return { credential_sealed: credential === null ? null : directory.secrets.seal(credential, sealContext("knowledge_connectors", id)) };
}

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
  takenBy: (write, tenantId, candidate) => kbConnectorIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    if ((await knowledgeBaseStore.find(write.trx, tenantId, body.knowledge_base_id)) === undefined)
      throw invalidField("knowledge_base_id", "is no knowledge base of this tenant");
    const { credential, ...columns } = body;
    checkLocation(body.connector_type, body.location, credential != null);
    const id = uuid();
    return {
      ...columns,
      ...sealedCredential(write, id, credential),
      mapping_file: body.mapping_file ?? "permissions.json",
      every_minutes: body.every_minutes ?? 15,
      enabled: body.enabled ?? true,
      id,
      tenant_id: tenantId,
      problem: null,
      due_at: write.now,
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async toPatch(write, _tenantId, row, body) {
    const { credential: written, ...columns } = body;
    const stored = write.directory.secrets.openOrNull(row.credential_sealed, sealContext("knowledge_connectors", row.id));
    // An unchanged credential is not written again.
    const credential = written === stored && (stored !== null || row.credential_sealed === null) ? undefined : written;
    const location = body.location ?? row.location;
    checkLocation(row.connector_type, location, written != null);
    // The credential would be disclosed to another host.
    if (location !== row.location && row.credential_sealed !== null && written === undefined)
      throw invalidField("credential", "must be given again, or null, with another location");
    const before: Readonly<Record<string, unknown>> = row;
    const changes = credential !== undefined || Object.entries(columns).some(([member, value]) => before[member] !== value);
    return { ...columns, ...sealedCredential(write, row.id, credential), ...(changes ? { due_at: write.now } : {}), updated_at: write.now };
  },
  dependents: async () => [],
  notify: () => undefined,
});

/** Makes the connector due immediately. */
export async function syncConnector(write: Write, tenantId: string, id: string): Promise<KbConnector> {
  const row = await kbConnectorStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound("connector");
  await kbConnectorStore.update(write.trx, id, { due_at: write.now });
  write.log({ tenant_id: tenantId, action: "sync", resource: RESOURCE, resource_id: id, after: read(row) });
  return read(row);
}
