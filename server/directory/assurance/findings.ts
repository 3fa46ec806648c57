import type { DriftFinding, DriftQuery, DriftResolve } from "@gatehouse/contracts/ai-drift";
import { refuse, Refused } from "../../kernel/errors.ts";
import { findingPage, type FindingPatch, type FindingRow, lockedFinding, updateFinding } from "../../store/assurance/drift-findings.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { notFound } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { foundSystem } from "./ai-systems.ts";
import { freezeBaseline } from "./baselines.ts";
import { openWindow } from "./incident-windows.ts";

const stamp = (at: Date | null): string | null => at?.toISOString() ?? null;

function read(row: FindingRow): DriftFinding {
  return {
    id: row.id,
    ai_system_id: row.ai_system_id,
    kind: row.kind as DriftFinding["kind"],
    severity: row.severity as DriftFinding["severity"],
    subject: row.subject,
    title: row.title,
    detail: row.detail,
    status: row.status as DriftFinding["status"],
    occurrences: row.occurrences,
    first_seen: row.first_seen.toISOString(),
    last_seen: row.last_seen.toISOString(),
    first_row: row.first_row,
    last_row: row.last_row,
    acknowledged_at: stamp(row.acknowledged_at),
    acknowledged_by: row.acknowledged_by,
    closed_at: stamp(row.closed_at),
    closed_by: row.closed_by,
    resolution: row.resolution as DriftFinding["resolution"],
  };
}

/** The findings of one system, or of the whole tenant if `systemId` is undefined. */
export async function listFindings(
  { db }: Directory,
  tenantId: string,
  systemId: string | undefined,
  query: DriftQuery,
  page: Page,
): Promise<Paged<DriftFinding>> {
  if (systemId !== undefined) await foundSystem(db, tenantId, systemId);
  const { items, total } = await findingPage(db, tenantId, { systemId, status: query.status, kind: query.kind }, page);
  return { items: items.map(read), total };
}

async function lockedOpen(write: Write, tenantId: string, id: string): Promise<FindingRow> {
  const row = await lockedFinding(write.trx, tenantId, id);
  if (row === undefined) throw notFound("finding");
  if (row.status !== "open")
    throw new Refused(refuse("illegal_transition", "This finding is closed.", { extra: { state: row.status, allowed: [] } }));
  return row;
}

async function changed(write: Write, row: FindingRow, patch: FindingPatch): Promise<DriftFinding> {
  await updateFinding(write.trx, row.id, { ...patch, updated_at: write.now });
  const after = await lockedFinding(write.trx, row.tenant_id, row.id);
  if (after === undefined) throw new Error("a finding is not there after it was written");
  return read(after);
}

function seal(write: Write, row: FindingRow, action: string, details: Readonly<Record<string, unknown>>): string {
  return sealRecord(write, {
    tenantId: row.tenant_id,
    system: systemAlone(row.ai_system_id),
    action,
    resource: "drift-findings",
    resource_id: row.id,
    context: { record_type: "ai.gw.drift-resolution", kind: row.kind, subject: row.subject, ...details },
  });
}

/** Acknowledges a finding, which stays open. */
export async function acknowledgeFinding(write: Write, tenantId: string, id: string, note: string | null): Promise<DriftFinding> {
  const row = await lockedOpen(write, tenantId, id);
  if (row.acknowledged_at !== null) write.stay(row, row, read(row));
  seal(write, row, "acknowledge", { note });
  return changed(write, row, { acknowledged_at: write.now, acknowledged_by: write.actor.username });
}

/** Closes it, and writes the baseline epoch or incident window that its resolution calls for. */
export async function resolveFinding(
  write: Write,
  tenantId: string,
  id: string,
  { kind, note = null, expires_at: expiresAt }: DriftResolve,
): Promise<DriftFinding> {
  const row = await lockedOpen(write, tenantId, id);
  const epoch = kind === "baselined" ? (await freezeBaseline(write, tenantId, row.ai_system_id, id)).epoch : null;
  const opened =
    kind === "expected_change"
      ? await openWindow(write, tenantId, {
          ai_system_id: row.ai_system_id,
          title: `Expected: ${row.title}`.slice(0, 400),
          severity: "sev4",
          reason: note,
          started_at: row.first_seen.toISOString(),
          ended_at: new Date(Math.max(write.now.getTime(), row.first_seen.getTime() + 1)).toISOString(),
          finding_id: id,
        })
      : null;
  const written = { baseline_epoch: epoch, incident_window_id: opened?.window.id ?? null, expires_at: expiresAt ?? null };
  const resolution = { kind, note, ...written, seal: seal(write, row, "resolve", { resolution: kind, note, ...written }) };
  return changed(write, row, {
    status: "closed",
    closed_at: write.now,
    closed_by: write.actor.username,
    resolution: JSON.stringify(resolution),
  });
}
