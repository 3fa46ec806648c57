import type { Liveness } from "@gatehouse/contracts/ai-drift";
import { activeHours, observationsOf } from "../../store/ai-observations.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { Directory } from "../writes/write.ts";
import { foundSystem } from "./ai-systems.ts";

const HOUR_MS = 3_600_000;
const LEARNED_MS = 14 * 24 * HOUR_MS;
/** With fewer hours nobody can tell what is usual. */
const FEWEST_HOURS = 24;
const STALE_AFTER = 3;
const SILENT_AFTER = 6;

/**
 * Whether a system is as lively as it usually is. `hours`: those of the last 14 days in which it was called, oldest first;
 * the longest gap between two of them is what is usual. `lastCall`, `now`: milliseconds.
 */
export function livenessIn(hours: readonly number[], lastCall: number | null, now: number): Pick<Liveness, "status" | "expectation"> {
  if (lastCall === null || hours.length < FEWEST_HOURS) return { status: "unknown", expectation: null };
  const gaps = hours.slice(1).map((hour, i) => hour - (hours[i] ?? hour));
  const usual = Math.max(HOUR_MS, ...gaps);
  const silent = now - lastCall;
  const expectation = {
    usual_gap_seconds: usual / 1000,
    stale_after_seconds: (STALE_AFTER * usual) / 1000,
    silent_after_seconds: (SILENT_AFTER * usual) / 1000,
    active_hours: hours.length,
  };
  if (silent <= usual) return { status: "live", expectation };
  if (silent <= STALE_AFTER * usual) return { status: "quiet", expectation };
  return { status: silent <= SILENT_AFTER * usual ? "stale" : "silent", expectation };
}

export async function livenessOf(db: Database | Trx, tenantId: string, systemId: string, now: number): Promise<Liveness> {
  const hours = (await activeHours(db, tenantId, systemId, new Date(now - LEARNED_MS))).map((hour) => hour.getTime());
  const seen = (await observationsOf(db, tenantId, systemId)).find(({ kind }) => kind === "call")?.last_seen.getTime();
  const lastCall = seen ?? hours.at(-1) ?? null;
  return {
    ai_system_id: systemId,
    ...livenessIn(hours, lastCall, now),
    last_call_at: lastCall === null ? null : new Date(lastCall).toISOString(),
    silent_for_seconds: lastCall === null ? null : Math.max(0, Math.round((now - lastCall) / 1000)),
  };
}

export async function readLiveness({ db, clock }: Directory, tenantId: string, systemId: string): Promise<Liveness> {
  await foundSystem(db, tenantId, systemId);
  return livenessOf(db, tenantId, systemId, clock.now());
}
