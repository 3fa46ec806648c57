import { usdFromMicros } from "../../kernel/money.ts";
import type { Database } from "../../store/database.ts";
import { endRun, findRun, runActions, type EndState, type RunRow } from "../../store/runs/runs.ts";
import { trajectoryOf, type Trajectory } from "./trajectory.ts";

/** A run with its totals. Costs are US dollars and leave out `unpriced_calls`. */
export interface RunSummary extends Omit<RunRow, "run_id" | "cost_micro_usd"> {
  /** The caller's own value, or the minted id. */
  readonly run_id: string;
  readonly total_tokens: number;
  readonly cost_usd: number;
}

/** A run as the ledger sees it. */
export interface RunView extends RunSummary, Trajectory {
  /** More calls than are listed. */
  readonly actions_truncated: boolean;
}

const MAX_ACTIONS = 1_000;

export function summaryOf({ cost_micro_usd: micros, run_id: runId, ...run }: RunRow): RunSummary {
  return {
    ...run,
    run_id: runId ?? run.root_task_id,
    total_tokens: run.prompt_tokens + run.completion_tokens,
    cost_usd: usdFromMicros(micros),
  };
}

/** `ids` are the forms the run may be known by; only one `participant` took part in is found. */
export async function viewRun(db: Database, tenantId: string, ids: readonly string[], participant: string): Promise<RunView | null> {
  const run = await findRun(db, tenantId, ids, participant);
  if (run === undefined) return null;
  const rows = await runActions(db, tenantId, run.root_task_id, MAX_ACTIONS + 1);
  return { ...summaryOf(run), ...trajectoryOf(rows.slice(0, MAX_ACTIONS)), actions_truncated: rows.length > MAX_ACTIONS };
}

export interface RunEnd {
  /** Null: the state its calls led to. */
  readonly state: EndState | null;
  readonly outcome: string | null;
  /** ISO 8601, when the caller ended it. */
  readonly at: string;
}

/** Ends a run; an ended one keeps its state. Null when the participant took part in no such run. */
export async function endRunOf(
  db: Database,
  tenantId: string,
  ids: readonly string[],
  participant: string,
  end: RunEnd,
): Promise<RunSummary | null> {
  const run = await findRun(db, tenantId, ids, participant);
  const ended = run === undefined ? undefined : await endRun(db, tenantId, run.root_task_id, end);
  return ended === undefined ? null : summaryOf(ended);
}
