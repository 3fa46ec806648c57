import { usdFromMicros } from "../../kernel/money.ts";
import type { Database } from "../../store/database.ts";
import { endRun, findRun, runActions, type EndState, type RunRow } from "../../store/runs/runs.ts";
import { trajectoryOf, type Trajectory } from "./trajectory.ts";

/** A run with its totals. Costs are in US dollars and exclude `unpriced_calls`. */
export interface RunSummary extends Omit<RunRow, "run_id" | "cost_micro_usd"> {
  /** The caller's own ID, or the generated one. */
  readonly run_id: string;
  readonly total_tokens: number;
  readonly cost_usd: number;
}

/** A run with its trajectory. */
export interface RunView extends RunSummary, Trajectory {
  /** Whether the run has more calls than are listed. */
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

/** `ids`: the forms the run ID may have. Null unless `participant` took part in the run. */
export async function viewRun(db: Database, tenantId: string, ids: readonly string[], participant: string): Promise<RunView | null> {
  const run = await findRun(db, tenantId, ids, participant);
  if (run === undefined) return null;
  const rows = await runActions(db, tenantId, run.root_task_id, MAX_ACTIONS + 1);
  return { ...summaryOf(run), ...trajectoryOf(rows.slice(0, MAX_ACTIONS)), actions_truncated: rows.length > MAX_ACTIONS };
}

export interface RunEnd {
  /** Null: derived from its calls. */
  readonly state: EndState | null;
  readonly outcome: string | null;
  /** ISO 8601 time at which the caller ended it. */
  readonly at: string;
}

/** Ends a run; a run that has already ended keeps its state. Null unless the participant took part in such a run. */
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
