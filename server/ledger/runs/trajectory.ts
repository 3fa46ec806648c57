import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { INFERENCE_OPERATIONS } from "../../kernel/operations/inference-operations.ts";
import { SUBTYPES_WITHOUT_MODEL } from "../../kernel/operations/subtypes-without-model.ts";
import { OWN_CALLS } from "../../store/models/own-calls.ts";
import type { ActionRow } from "../../store/runs/runs.ts";

/** One iteration of an agent's loop: a model call and the actions that followed from it. */
export interface AgentTurn {
  /** The caller's ID; null if the turn is inferred. */
  readonly turn_id: string | null;
  readonly turn_seq: number | null;
  /** Whether the turn was inferred from the model calls, because the caller named none. */
  readonly inferred: boolean;
  readonly calls: number;
}

/** A phase named by the caller; never inferred. */
export interface AgentStep {
  readonly step_id: string | null;
  readonly step_name: string | null;
  readonly calls: number;
}

/** One call of a run. */
export interface RunAction {
  readonly id: string;
  readonly timestamp: string;
  readonly proxy_type: string | null;
  readonly proxy_subtype: string | null;
  readonly source: string | null;
  /** Model, tool, skill, agent or server. */
  readonly target: string | null;
  readonly http_status_code: number | null;
  readonly success: boolean | null;
  readonly error_type: string | null;
  readonly duration_ms: number | null;
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly cost_usd: number | null;
  readonly turn_id: string | null;
  readonly turn_seq: number | null;
  readonly turn_inferred: boolean;
  readonly step_id: string | null;
  readonly trace_continuity: string | null;
  readonly deciding_model: string | null;
  /** Arrived after the run's end; excluded from totals, turns and steps. */
  readonly late: boolean;
}

export interface Trajectory {
  readonly turns: AgentTurn[];
  readonly steps: AgentStep[];
  readonly actions: RunAction[];
}

/** Calls that ask no model, or ask one about a call of the agent, so that they begin no new turn. */
const NO_PASS: ReadonlySet<string> = new Set([...OWN_CALLS, ...SUBTYPES_WITHOUT_MODEL]);
const TOLD_PASS: ReadonlySet<string> = new Set(INFERENCE_OPERATIONS);

function isModelCall({ proxy_type: type, proxy_subtype: subtype, source }: AuditRow): boolean {
  if (type !== "llm") return false;
  return source === "otel" ? TOLD_PASS.has(subtype ?? "") : !NO_PASS.has(subtype ?? "");
}

type Counted<T> = { -readonly [K in keyof T]: T[K] };

const isLate = (row: AuditRow): boolean => Array.isArray(row.tags) && row.tags.includes("late");

function actionOf(row: AuditRow, turn: AgentTurn | null): RunAction {
  return {
    id: row.id ?? "",
    timestamp: row.timestamp ?? "",
    proxy_type: row.proxy_type ?? null,
    proxy_subtype: row.proxy_subtype ?? null,
    source: row.source ?? null,
    target: row.mcp_capability_name ?? row.skill_id ?? row.llm_model_used ?? row.llm_model_requested ?? row.server_id ?? null,
    http_status_code: row.http_status_code ?? null,
    success: row.success ?? null,
    error_type: row.error_type ?? null,
    duration_ms: row.duration_ms ?? null,
    prompt_tokens: row.llm_prompt_tokens ?? null,
    completion_tokens: row.llm_completion_tokens ?? null,
    cost_usd: row.llm_estimated_cost_usd ?? null,
    turn_id: turn?.turn_id ?? null,
    turn_seq: turn?.turn_seq ?? null,
    turn_inferred: turn?.inferred ?? false,
    step_id: row.step_id ?? null,
    trace_continuity: row.trace_continuity ?? null,
    deciding_model: row.deciding_model ?? null,
    late: isLate(row),
  };
}

/** The trajectory of a run. `rows` must be in the order of the calls. */
export function trajectoryOf(rows: readonly ActionRow[]): Trajectory {
  const turns: Counted<AgentTurn>[] = [];
  const steps: Counted<AgentStep>[] = [];
  const named = new Map<string, Counted<AgentTurn>>();
  const phases = new Map<string, Counted<AgentStep>>();
  let inferred: { turn: Counted<AgentTurn>; hasModelCall: boolean } | null = null;

  function turnOf(row: AuditRow): Counted<AgentTurn> {
    if (row.turn_id != null || row.turn_seq != null) {
      const key = JSON.stringify([row.turn_id ?? null, row.turn_id == null ? row.turn_seq : null]);
      let turn = named.get(key);
      if (turn === undefined)
        turns.push((turn = { turn_id: row.turn_id ?? null, turn_seq: row.turn_seq ?? null, inferred: false, calls: 0 }));
      named.set(key, turn);
      turn.turn_seq ??= row.turn_seq ?? null;
      return turn;
    }
    const asksModel = isModelCall(row);
    if (inferred === null || (asksModel && inferred.hasModelCall)) {
      inferred = { turn: { turn_id: null, turn_seq: turns.length + 1, inferred: true, calls: 0 }, hasModelCall: false };
      turns.push(inferred.turn);
    }
    inferred.hasModelCall ||= asksModel;
    return inferred.turn;
  }

  const actions = rows.map((row) => {
    if (isLate(row) || row.joined === true) return actionOf(row, null);
    if (row.step_id != null || row.step_name != null) {
      const key = JSON.stringify([row.step_id ?? null, row.step_id == null ? row.step_name : null]);
      let step = phases.get(key);
      if (step === undefined) steps.push((step = { step_id: row.step_id ?? null, step_name: row.step_name ?? null, calls: 0 }));
      phases.set(key, step);
      step.step_name ??= row.step_name ?? null;
      step.calls += 1;
    }
    const turn = turnOf(row);
    turn.calls += 1;
    return actionOf(row, turn);
  });
  return { turns, steps, actions };
}
