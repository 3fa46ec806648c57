import { isRawJson } from "../../kernel/text/exact-numbers.ts";
import { microsFromUsd, usdFromMicros } from "../../kernel/money.ts";
import type { TaskKey } from "../../directory/agents/tasks.ts";
import type { Call } from "../../road/call.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { AgentParts } from "./agent-parts.ts";

const MAX_USD = 1_000_000;
/** A claim whose row does not come is given up after a day (`store/agents/agent-cost-claims.ts`). */
const CLAIM_RENEWAL_MS = 4 * 3_600_000;

/**
 * The cost of a message as reported by the agent, in dollars: `cost_usd` in `metadata` or `metadata.usage`. The last report counts, and
 * only for the first call that receives it: calls that join or fetch the task see the same value.
 */
export class ReportedCost {
  private readonly call: Call;
  private readonly route: AgentRoute;
  private readonly parts: Pick<AgentParts, "tasks" | "log">;
  private isKnown: boolean;
  private told: { readonly taskId: string; readonly micros: number } | null = null;
  /** Micro-dollars counted by this call. */
  private own = 0;
  /** Micro-dollars of the row's cost that come from this report. */
  private shown = 0;
  private claimed: TaskKey | null = null;

  /** `isKnown`: whether the task is already stored. */
  constructor(call: Call, route: AgentRoute, isKnown: boolean, parts: Pick<AgentParts, "tasks" | "log">) {
    this.call = call;
    this.route = route;
    this.isKnown = isKnown;
    this.parts = parts;
  }

  async take({ kind, value }: AgentEvent): Promise<void> {
    const micros = costReportedIn(value);
    if (micros === null) return;
    if (kind === "message") return this.put(micros);
    if (this.told?.micros === micros) return;
    this.told = { taskId: String(kind === "task" ? value.id : value.taskId), micros };
    // Count it now: the cost is incurred even if the answer is refused.
    if (this.isKnown) await this.count(this.told);
    else this.put(micros);
  }

  /** To be called once the task is stored. */
  async known(): Promise<void> {
    if (this.isKnown) return;
    this.isKnown = true;
    if (this.told !== null) await this.count(this.told);
  }

  /** For a stream, which may last longer than its row is waited for: keeps its part of the cost until the returned function is called. */
  renewClaim(): () => void {
    const timer = setInterval(() => {
      if (this.claimed === null) return;
      this.parts.tasks
        .renewCost(this.claimed, this.call.id)
        .catch((error: Error) => this.parts.log.warn("agent_cost_not_stored", { call_id: this.call.id, error }));
    }, CLAIM_RENEWAL_MS);
    return () => clearInterval(timer);
  }

  private async count({ taskId, micros }: { readonly taskId: string; readonly micros: number }): Promise<void> {
    const task = { tenant_id: this.call.identity?.tenantId ?? "", agent_id: this.route.agent.id, id: taskId };
    const more = await this.parts.tasks.countCost(task, micros, this.own, this.call.id).catch((error: Error) => {
      this.parts.log.warn("agent_cost_not_stored", { call_id: this.call.id, error });
      return undefined;
    });
    this.own += more ?? micros - this.own;
    this.claimed = task;
    this.put(this.own);
  }

  /** Adds to the row's cost, because a listing fetches several tasks for one call. */
  private put(micros: number): void {
    const { row } = this.call;
    const sum = row.llm_estimated_cost_usd == null ? 0 : microsFromUsd(row.llm_estimated_cost_usd);
    row.llm_estimated_cost_usd = usdFromMicros(sum - this.shown + micros);
    this.shown = micros;
  }
}

/** The reported cost in micro-dollars; null if there is none. */
export function costReportedIn(value: JsonObject): number | null {
  const usd = [value, isObject(value.status) && isObject(value.status.message) ? value.status.message : undefined]
    .map(costIn)
    .find((one) => one !== null);
  return usd == null ? null : microsFromUsd(usd);
}

function costIn(value: JsonObject | undefined): number | null {
  const metadata: JsonValue | undefined = value?.metadata;
  if (!isObject(metadata)) return null;
  const reportedCost = metadata.cost_usd ?? (isObject(metadata.usage) ? metadata.usage.cost_usd : undefined);
  // Numbers with more digits than a double holds are parsed as raw JSON.
  const usd = isRawJson(reportedCost) ? Number(JSON.stringify(reportedCost)) : reportedCost;
  return typeof usd === "number" && usd >= 0 && usd <= MAX_USD ? usd : null;
}
