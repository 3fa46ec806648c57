import type { AuditRow } from "@gatehouse/ledger-format/fields";
import { BoundedMap } from "../../directory/bounded-map.ts";
import { CAPABILITY_METHODS } from "../../kernel/operations/capability-methods.ts";
import type { Call } from "../call.ts";

const MAX_RUNS = 50_000;
const ACTIONS = new Set(["mcp", "virtual_mcp", "skill", "a2a"]);

/** Handshakes, lists and streams of a tool server are the client's doing, not a model's. */
function isDecided({ proxy_type: type, proxy_subtype: subtype, mcp_method: method }: AuditRow): boolean {
  if (method != null) return CAPABILITY_METHODS.includes(method);
  return type === "skill" || type === "a2a" || subtype === "mcp_sub_path";
}

/**
 * Records on an action's row which model decided it: the model of the last completion in the same turn, else in the same run. Completions
 * in other processes are not known; the field is null then.
 */
export class DecidingModels {
  private readonly last = new BoundedMap<string, string>(MAX_RUNS);

  /** Call for every call, once everything else on its row is known. */
  note({ audit, row }: Call): void {
    const run = row.root_task_id;
    if (typeof run !== "string") return;
    const turn = typeof row.turn_id === "string" ? `${run}\n${row.turn_id}` : null;
    if (ACTIONS.has(audit.proxyType)) {
      if (isDecided(row)) row.deciding_model = (turn === null ? undefined : this.last.get(turn)) ?? this.last.get(run) ?? null;
      return;
    }
    // A call that is a run of its own cannot have led to another call.
    const model = row.llm_model_used;
    if (typeof model !== "string" || row.success !== true || row.llm_completion_tokens == null || row.trace_continuity === "minted") return;
    this.last.set(run, model);
    if (turn !== null) this.last.set(turn, model);
  }
}
