import { FIRST_MOMENT } from "@gatehouse/contracts/conventions";
import type { RunSignals } from "@gatehouse/contracts/runs";
import { usdFromMicros } from "../../kernel/money.ts";
import type { Database } from "../../store/database.ts";
import type { RunFilters } from "../../store/runs/run-page-conditions.ts";
import { readRunPage } from "../../store/runs/run-page.ts";
import { runSums, type RunSums } from "../../store/runs/run-sums.ts";
import { summaryOf, type RunSummary } from "./run-view.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOURLY_UP_TO_MS = 48 * HOUR_MS;

/** The requested window. Figures start at the full hour that contains `from` and end at `to`. */
export interface RunWindow {
  readonly from: string;
  readonly to: string;
}

/** Newest first; `exact` is false if `total` comes from hourly sums instead of a count of the runs. */
export async function listRuns(
  db: Database,
  tenantId: string,
  groupId: string,
  filters: RunFilters,
  page: { limit: number; offset: number },
): Promise<{ items: RunSummary[]; total: number; exact: boolean }> {
  const found = await readRunPage(db, tenantId, groupId, filters, page);
  return { ...found, items: found.items.map(summaryOf) };
}

export function readRunWindow(requested: { from?: string | undefined; to?: string | undefined }, now: number): RunWindow {
  const to = requested.to === undefined ? now : Date.parse(requested.to);
  const from = requested.from === undefined ? Math.max(to - DAY_MS, FIRST_MOMENT) : Date.parse(requested.from);
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** The window that the figures cover. */
export function figuredWindow({ from, to }: RunWindow): RunWindow {
  return { from: new Date(Math.floor(Date.parse(from) / HOUR_MS) * HOUR_MS).toISOString(), to };
}

const percent = (part: number, whole: number): number | null => (whole === 0 ? null : Math.round((part / whole) * 10_000) / 100);

function signalsOf(sums: RunSums): RunSignals {
  const observed = sums.calls - sums.external_calls;
  const {
    open,
    completed,
    completed_degraded,
    exhausted,
    errored,
    blocked_policy,
    cancelled,
    resolved,
    escalated,
    handed_off,
    abandoned_by_user,
  } = sums;
  return {
    runs: sums.runs,
    cost: {
      total_usd: usdFromMicros(sums.cost_micro_usd),
      per_run_usd: sums.runs === 0 ? null : usdFromMicros(Math.round(sums.cost_micro_usd / sums.runs)),
      unpriced_calls: sums.unpriced_calls,
    },
    tokens: { prompt: sums.prompt_tokens, completion: sums.completion_tokens, total: sums.prompt_tokens + sums.completion_tokens },
    trajectory_length: { mean: sums.runs === 0 ? null : Math.round((sums.calls / sums.runs) * 100) / 100, max: sums.longest },
    errors: { calls: sums.calls, errors: sums.errors, rate_pct: percent(sums.errors, sums.calls) },
    tool_errors: { calls: sums.tool_calls, errors: sums.tool_errors, rate_pct: percent(sums.tool_errors, sums.tool_calls) },
    outcome_mix: { open, completed, completed_degraded, exhausted, errored, blocked_policy, cancelled },
    ended_by_client: sums.ended_by_client,
    late_calls: sums.late_calls,
    coverage: {
      observed_pct: percent(observed, sums.calls),
      chain_integrity_pct: percent(sums.intact_calls, observed),
      asserted_pct: percent(sums.asserted_calls, observed),
      external_pct: percent(sums.external_calls, sums.calls),
    },
    client_outcomes: {
      resolved,
      escalated,
      handed_off,
      abandoned_by_user,
      coverage_pct: percent(resolved + escalated + handed_off + abandoned_by_user, sums.runs),
    },
  };
}

export async function readRunStats(db: Database, tenantId: string, groupId: string, window: RunWindow): Promise<RunSignals> {
  const [sums] = await runSums(db, tenantId, groupId, window, null);
  if (sums === undefined) throw new Error("a sum over no rows is one row");
  return signalsOf(sums);
}

/** Hourly for windows of up to 48 hours, else daily; includes buckets without runs. */
export async function readRunTimeseries(
  db: Database,
  tenantId: string,
  groupId: string,
  window: RunWindow,
): Promise<{ bucket: "hour" | "day"; buckets: ({ at: string } & RunSignals)[] }> {
  const bucket = Date.parse(window.to) - Date.parse(window.from) <= HOURLY_UP_TO_MS ? "hour" : "day";
  const step = bucket === "hour" ? HOUR_MS : DAY_MS;
  const found = new Map((await runSums(db, tenantId, groupId, window, bucket)).map((sums) => [Date.parse(sums.at ?? ""), sums]));
  const buckets: ({ at: string } & RunSignals)[] = [];
  for (let at = Math.floor(Date.parse(window.from) / step) * step; at < Date.parse(window.to); at += step) {
    buckets.push({ at: new Date(at).toISOString(), ...signalsOf(found.get(at) ?? NOTHING) });
  }
  return { bucket, buckets };
}

const NOTHING: RunSums = {
  at: null,
  runs: 0,
  open: 0,
  completed: 0,
  completed_degraded: 0,
  exhausted: 0,
  errored: 0,
  blocked_policy: 0,
  cancelled: 0,
  ended_by_client: 0,
  resolved: 0,
  escalated: 0,
  handed_off: 0,
  abandoned_by_user: 0,
  calls: 0,
  llm_calls: 0,
  tool_calls: 0,
  tool_errors: 0,
  errors: 0,
  late_calls: 0,
  asserted_calls: 0,
  intact_calls: 0,
  external_calls: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cost_micro_usd: 0,
  unpriced_calls: 0,
  longest: 0,
};
