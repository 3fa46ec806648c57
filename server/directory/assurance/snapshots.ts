import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { signedCertificate } from "@gatehouse/ledger-format/certificate";
import type { AssuranceReport, Snapshot, SnapshotWithReport } from "@gatehouse/contracts/ai-assurance";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { findSnapshot, insertSnapshot, snapshotPage, type SnapshotRow, updateSnapshot } from "../../store/assurance/assurance-snapshots.ts";
import type { Database } from "../../store/database.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound } from "../writes/records.ts";
import { sealRecord } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { foundSystem, lockedSystem } from "./ai-systems.ts";
import { chainFaults } from "../../store/ledger/chain-faults.ts";
import { faultInWords } from "./chain-verdicts.ts";
import { contractInForce } from "./contract-in-force.ts";
import { readAssuranceReport } from "./report.ts";

const RESOURCE = "assurance-snapshots";
const VALID_DAYS = 90;
const DAY_MS = 86_400_000;

/** The limits of a certificate, stated in each one. */
const LIMITS = [
  "It tells what the gateway saw and was configured with. Calls that went past the gateway are not in it.",
  "It is of the moment it was captured at. Whether it was revoked since, only the gateway knows.",
  "It judges no answer of a model: a result of PASSED says that controls and contract held, not that outputs were right.",
  "Evidence is told by address and digest; the gateway has not read it.",
];

function read(row: SnapshotRow): Snapshot {
  return {
    id: row.id,
    ai_system_id: row.ai_system_id,
    digest: row.digest,
    result: row.result as Snapshot["result"],
    score: row.score,
    captured_by: row.captured_by,
    created_at: row.created_at.toISOString(),
    valid_until: row.valid_until.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
    revoked_by: row.revoked_by,
    revoke_reason: row.revoke_reason,
  };
}

const reportIn = (row: SnapshotRow): AssuranceReport => JSON.parse(row.content) as AssuranceReport;

export async function listSnapshots({ db }: Directory, tenantId: string, systemId: string, page: Page): Promise<Paged<Snapshot>> {
  await foundSystem(db, tenantId, systemId);
  const { items, total } = await snapshotPage(db, tenantId, systemId, page);
  return { items: items.map(read), total };
}

async function foundSnapshot(db: Database, tenantId: string, systemId: string, id: string): Promise<SnapshotRow> {
  const row = await findSnapshot(db, tenantId, systemId, id);
  if (row === undefined) throw notFound("snapshot");
  return row;
}

export async function readSnapshot({ db }: Directory, tenantId: string, systemId: string, id: string): Promise<SnapshotWithReport> {
  const row = await foundSnapshot(db, tenantId, systemId, id);
  return { ...read(row), report: reportIn(row) };
}

/** Stores the current report, sealed in the admin log. */
export async function captureSnapshot(
  write: Write,
  tenantId: string,
  systemId: string,
  validDays = VALID_DAYS,
): Promise<SnapshotWithReport> {
  await lockedSystem(write, tenantId, systemId);
  const directory = { ...write.directory, db: write.trx as Database };
  const report = await readAssuranceReport(directory, tenantId, systemId);
  const content = canonicalJson(report);
  const digest = sha256Hex(content);
  const id = uuid();
  await insertSnapshot(write.trx, {
    ...{ id, tenant_id: tenantId, ai_system_id: systemId, digest, content },
    result: report.result,
    score: report.health.score,
    valid_until: new Date(write.now.getTime() + validDays * DAY_MS),
    captured_by: write.actor.username,
    created_at: write.now,
  });
  await seal(write, { tenantId, systemId, id, digest }, "capture", { result: report.result });
  return readSnapshot(directory, tenantId, systemId, id);
}

interface SealedSnapshot {
  readonly tenantId: string;
  readonly systemId: string;
  readonly id: string;
  readonly digest: string;
}

async function seal(
  write: Write,
  { tenantId, systemId, id, digest }: SealedSnapshot,
  action: string,
  details: Readonly<Record<string, unknown>>,
): Promise<void> {
  const contract = await contractInForce(write.trx, tenantId, systemId);
  sealRecord(write, {
    tenantId,
    system: { ai_system_id: systemId, contract_version: contract?.version.toString() ?? null, contract_hash: contract?.digest ?? null },
    action,
    resource: RESOURCE,
    resource_id: id,
    context: { record_type: "ai.gw.assurance-snapshot", snapshot_id: id, ...details },
    references: [{ type: "ai.gw.assurance-report", digest_alg: "SHA-256", digest, purpose: "report_content" }],
  });
}

/** From then on no certificate of it can be exported. */
export async function revokeSnapshot(write: Write, tenantId: string, systemId: string, id: string, reason: string): Promise<Snapshot> {
  await lockedSystem(write, tenantId, systemId);
  const db = write.trx as Database;
  const row = await foundSnapshot(db, tenantId, systemId, id);
  if (row.revoked_at !== null)
    throw new Refused(refuse("illegal_transition", "This snapshot is revoked already.", { extra: { state: "revoked", allowed: [] } }));
  await updateSnapshot(write.trx, id, { revoked_at: write.now, revoked_by: write.actor.username, revoke_reason: reason });
  await seal(write, { tenantId, systemId, id, digest: row.digest }, "revoke", { reason });
  return read(await foundSnapshot(db, tenantId, systemId, id));
}

/** The snapshot as a certificate that can be verified without the gateway. `signingKey`: an Ed25519 private key, PEM. */
export async function exportCertificate(
  { db }: Directory,
  tenantId: string,
  systemId: string,
  id: string,
  signingKey: string,
): Promise<string> {
  const row = await foundSnapshot(db, tenantId, systemId, id);
  if (row.revoked_at !== null) throw new Refused(refuse("certificate_revoked"));
  const report = reportIn(row);
  // The certificate covers the system under this contract only.
  if (report.contract !== null && (await contractInForce(db, tenantId, systemId))?.digest !== report.contract.digest)
    throw new Refused(
      refuse("certificate_revoked", `Contract ${report.contract.version}, under which it was captured, is not in force any more.`),
    );
  const rests = new Set(report.ledger.map(({ chain_id: chain }) => chain));
  const faults = (await chainFaults(db, tenantId)).filter(({ chain_id: chain }) => rests.has(chain));
  const fault = faults.find(({ acknowledged }) => acknowledged === null);
  if (fault !== undefined)
    throw new Refused(
      refuse("certificate_revoked", `Chain ${fault.chain_id} of the ledger, which it rests on, was verified as ${fault.verdict}.`),
    );
  const subject = {
    [`ai-system:${systemId}`]: row.digest,
    ...(report.contract === null ? {} : { [`contract:${report.contract.version}`]: report.contract.digest }),
  };
  return signedCertificate(
    subject,
    {
      snapshot_id: id,
      captured_at: row.created_at.toISOString(),
      valid_until: row.valid_until.toISOString(),
      result: report.result,
      report,
      limits: [...LIMITS, ...faults.map(faultInWords)],
    },
    signingKey,
  );
}
