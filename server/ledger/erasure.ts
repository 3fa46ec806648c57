import { randomBytes } from "node:crypto";
import { isoMicros, type Clock } from "../kernel/clock.ts";
import { ulid } from "../kernel/ids.ts";
import { sha256Hex } from "../kernel/secrets.ts";
import type { Database, Trx } from "../store/database.ts";
import { countErasures, erasurePage, eraseSubject, type SubjectColumn } from "../store/people/erasure.ts";
import type { Ledger } from "./ledger.ts";

/** An erasure as listed: which identifiers were given, but none of their values. */
export interface ErasureEvent {
  readonly id: string;
  readonly tenant_id: string;
  readonly at: string;
  readonly requested_by: string | null;
  readonly reason: string | null;
  readonly identifiers: string[];
  readonly rows_erased: number;
  readonly runs_changed: number;
  readonly account_erased: boolean;
  readonly approvals_erased: number;
}

export interface ErasureRequest {
  readonly tenantId: string;
  readonly subject: Readonly<Partial<Record<SubjectColumn, string>>>;
  readonly reason: string | null;
  readonly requestedBy: string | null;
  /** What was deleted in the same transaction besides rows and runs, for the event. */
  readonly gone?: { readonly account: boolean; readonly approvals: number };
}

/**
 * Erases content and direct identifiers of a data subject from rows and runs, and from rows not yet shipped once they arrive. Hashed fields
 * stay, so the chain still verifies.
 */
export async function eraseDataSubject(trx: Trx, request: ErasureRequest, clock: Clock): Promise<ErasureEvent> {
  const salt = randomBytes(16).toString("hex");
  const values = Object.fromEntries(Object.entries(request.subject).filter(([, value]) => value !== undefined));
  const digests = Object.fromEntries(Object.entries(values).map(([column, value]) => [column, sha256Hex(salt + value)]));
  const at = isoMicros(clock.micros());
  const id = ulid();
  const { account, approvals } = request.gone ?? { account: false, approvals: 0 };
  const { rows, runs } = await eraseSubject(trx, {
    id,
    tenantId: request.tenantId,
    at,
    requestedBy: request.requestedBy,
    reason: request.reason,
    salt,
    values,
    digests,
    accountErased: account,
    approvalsErased: approvals,
  });
  return {
    id,
    tenant_id: request.tenantId,
    at,
    requested_by: request.requestedBy,
    reason: request.reason,
    identifiers: Object.keys(values),
    rows_erased: rows,
    runs_changed: runs,
    account_erased: account,
    approvals_erased: approvals,
  };
}

/** Newest first; a null tenant means all. */
export async function listErasures(
  db: Database,
  tenantId: string | null,
  page: { limit: number; offset: number },
): Promise<{ items: ErasureEvent[]; total: number }> {
  const { items, total } = await erasurePage(db, tenantId, page);
  return {
    total,
    items: items.map(({ subject, at, ...event }) => ({ ...event, at: at.toISOString(), identifiers: Object.keys(subject) })),
  };
}

/**
 * A job that clears shipped rows from this process's journal after each erasure, and again if affected rows of calls then in progress
 * arrived later.
 */
export async function journalScrubber(db: Database, ledger: Pick<Ledger, "scrub" | "holdsErased">): Promise<() => Promise<void>> {
  let seen = await countErasures(db);
  return async () => {
    const count = await countErasures(db);
    if (count === seen && !ledger.holdsErased) return;
    await ledger.scrub();
    seen = count;
  };
}
