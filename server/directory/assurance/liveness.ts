import type { Liveness } from "@gatehouse/contracts/ai-drift";
import { activeHours, type ObservationRow, observationsOf } from "../../store/assurance/ai-observations.ts";
import { lastCallOf } from "../../store/assurance/ai-system-hours.ts";
import { controlSigns, type ControlSigns } from "../../store/assurance/ai-system-signs.ts";
import { newestCheckpoint, unanchoredChains } from "../../store/ledger/chain-heads.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { Directory } from "../writes/write.ts";
import { foundSystem } from "./ai-systems.ts";

const HOUR_MS = 3_600_000;
const LEARNED_MS = 14 * 24 * HOUR_MS;
/** With fewer active hours, no usual rhythm can be established. */
const MIN_HOURS = 24;
/** Twice the checkpoint interval. */
export const ANCHORED_WITHIN_MS = 120_000;
const STALE_AFTER = 3;
const SILENT_AFTER = 6;

/**
 * Whether a system is as active as usual. `hours`: those of the last 14 days with calls, oldest first; the longest gap
 * between two of them is taken as usual. `lastCall` and `now` are epoch milliseconds.
 */
export function livenessIn(hours: readonly number[], lastCall: number | null, now: number): Pick<Liveness, "status" | "expectation"> {
  if (lastCall === null || hours.length < MIN_HOURS) return { status: "unknown", expectation: null };
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

/** With fewer signs of activity, a control's usual rate is unknown. */
const MIN_SIGNS = 20;
const MIN_CALLS = 20;
/** Caps the assumed share of calls that a control inspects, so that one call it skips means nothing. */
const HIGHEST_SHARE = 0.9;
/** The probability of so many calls without a sign from a working control, below which it is stale or silent. */
const STALE_BELOW = 1e-3;
const SILENT_BELOW = 1e-9;

/** Whether a control is still active, judged by its usual rate and the calls that passed since its last sign. */
export function controlLivenessIn({ looked, calls, since_last: since }: Pick<ControlSigns, "looked" | "calls" | "since_last">): {
  readonly status: Liveness["status"];
  readonly share: number | null;
} {
  if (looked < MIN_SIGNS) return { status: "unknown", share: null };
  const share = Math.min(1, looked / Math.max(1, calls - since));
  const unlikely = (1 - Math.min(HIGHEST_SHARE, share)) ** since;
  if (since === 0) return { status: "live", share };
  if (since < MIN_CALLS || unlikely >= STALE_BELOW) return { status: "quiet", share };
  return { status: unlikely >= SILENT_BELOW ? "stale" : "silent", share };
}

/** The liveness of the system's controls and of the checkpoints that anchor its rows. */
async function controlsOf(db: Database | Trx, tenantId: string, systemId: string, now: number): Promise<Liveness["controls"]> {
  const controls = (await controlSigns(db, tenantId, systemId)).map((signs) => {
    const { status, share } = controlLivenessIn(signs);
    return {
      control: signs.control,
      status,
      last_sign_at: signs.last_row === "" ? null : signs.last_seen.toISOString(),
      last_row: signs.last_row === "" ? null : signs.last_row,
      usual_share: share,
      calls_since: signs.since_last,
    };
  });
  const checkpoint = await newestCheckpoint(db);
  const late = await unanchoredChains(db, new Date(now - ANCHORED_WITHIN_MS), tenantId);
  const status = checkpoint === null ? "unknown" : late.chains > 0 ? "silent" : "live";
  const anchoring = {
    ...({ control: "checkpoints", status, last_row: null, usual_share: null, calls_since: 0 } as const),
    // Refers to the overdue chain: checkpoints of other chains say nothing about it.
    last_sign_at: (late.since ?? checkpoint)?.toISOString() ?? null,
  };
  return [...controls, anchoring];
}

/** The hours with calls within the learning period, in epoch milliseconds, oldest first. */
export async function usualHours(db: Database | Trx, tenantId: string, systemId: string, now: number): Promise<number[]> {
  return (await activeHours(db, tenantId, systemId, new Date(now - LEARNED_MS))).map((hour) => hour.getTime());
}

/** `known`: what the caller has already read. */
export async function livenessOf(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  now: number,
  known: { readonly hours?: readonly number[]; readonly observations?: readonly ObservationRow[] } = {},
): Promise<Liveness> {
  const hours = known.hours ?? (await usualHours(db, tenantId, systemId, now));
  const observations = known.observations ?? (await observationsOf(db, tenantId, systemId));
  // Observations cover answered calls only.
  const answered = observations.find(({ kind }) => kind === "call")?.last_seen.getTime() ?? 0;
  const called = (await lastCallOf(db, tenantId, systemId))?.getTime() ?? 0;
  const lastCall = Math.max(answered, called) || (hours.at(-1) ?? null);
  return {
    ai_system_id: systemId,
    ...livenessIn(hours, lastCall, now),
    last_call_at: lastCall === null ? null : new Date(lastCall).toISOString(),
    controls: await controlsOf(db, tenantId, systemId, now),
    silent_for_seconds: lastCall === null ? null : Math.max(0, Math.round((now - lastCall) / 1000)),
  };
}

export async function readLiveness({ db, clock }: Directory, tenantId: string, systemId: string): Promise<Liveness> {
  await foundSystem(db, tenantId, systemId);
  return livenessOf(db, tenantId, systemId, clock.now());
}
