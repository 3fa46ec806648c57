import type { Evidence, EvidenceCreate, EvidenceUpdate } from "@gatehouse/contracts/ai-systems";
import { uuid } from "../../kernel/ids.ts";
import { type EvidenceInsert, type EvidencePatch, type EvidenceRow, evidenceStore } from "../../store/assurance/ai-system-evidence.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { foundSystem, lockedSystem, refuseRetired } from "./ai-systems.ts";

function read(row: EvidenceRow): Evidence {
  return {
    id: row.id,
    ai_system_id: row.ai_system_id,
    kind: row.kind as Evidence["kind"],
    uri: row.uri,
    sha256: row.sha256,
    title: row.title,
    assessor: row.assessor,
    validity: { from: row.valid_from?.toISOString() ?? null, until: row.valid_until?.toISOString() ?? null },
    attached_by: row.attached_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Replaced as a whole if given. */
const heldFor = (validity: EvidenceCreate["validity"]) =>
  validity === undefined ? {} : { valid_from: validity.from ?? null, valid_until: validity.until ?? null };

interface EvidenceOf {
  readonly systemId: string;
}

const evidence = records<
  EvidenceRow,
  EvidenceInsert & { id: string },
  EvidencePatch,
  Evidence,
  EvidenceCreate & EvidenceOf,
  EvidenceUpdate,
  EvidenceOf,
  string
>({
  resource: "ai-system-evidence",
  noun: "evidence",
  store: evidenceStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: async () => undefined,
  toInsert: async (write, tenantId, { systemId, validity, ...body }) => ({
    ...body,
    ...heldFor(validity),
    id: uuid(),
    tenant_id: tenantId,
    ai_system_id: systemId,
    attached_by: write.actor.username,
    created_at: write.now,
    updated_at: write.now,
  }),
  toPatch: async (write, _tenantId, _row, { validity, ...body }) => ({ ...body, ...heldFor(validity), updated_at: write.now }),
  dependents: async () => [],
  notify: () => undefined,
});

export async function listEvidence(directory: Directory, tenantId: string, systemId: string, page: Page): Promise<Paged<Evidence>> {
  await foundSystem(directory.db, tenantId, systemId);
  return evidence.list(directory, tenantId, { systemId }, page);
}

export async function attachEvidence(write: Write, tenantId: string, systemId: string, body: EvidenceCreate): Promise<Evidence> {
  refuseRetired(await lockedSystem(write, tenantId, systemId));
  return evidence.create(write, tenantId, { ...body, systemId });
}

export async function getEvidence(directory: Directory, tenantId: string, systemId: string, id: string): Promise<Evidence> {
  return ofSystem(await evidence.get(directory, tenantId, id), systemId);
}

export async function changeEvidence(
  write: Write,
  tenantId: string,
  systemId: string,
  id: string,
  body: EvidenceUpdate,
): Promise<Evidence> {
  refuseRetired(await lockedSystem(write, tenantId, systemId));
  return ofSystem(await evidence.update(write, tenantId, id, body), systemId);
}

/** Snapshots that captured the evidence keep it. */
export async function detachEvidence(write: Write, tenantId: string, systemId: string, id: string): Promise<void> {
  refuseRetired(await lockedSystem(write, tenantId, systemId));
  const row = await evidenceStore.find(write.trx, tenantId, id);
  if (row?.ai_system_id !== systemId) throw notFound("evidence");
  await evidence.remove(write, tenantId, id);
}

/** Throwing rolls the write back. */
function ofSystem(found: Evidence, systemId: string): Evidence {
  if (found.ai_system_id !== systemId) throw notFound("evidence");
  return found;
}
