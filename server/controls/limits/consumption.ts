import type { Call } from "../../road/call.ts";
import type { Admitted } from "./admission/admission-answer.ts";
import type { Plan, Scope, WindowLimit } from "./counters/counters.ts";
import { amountText, limitWords } from "./limit-words.ts";
import { tightestPace } from "./plans/tightest-pace.ts";

/** Share of a limit from which callers are warned if the limit sets no threshold. */
export const APPROACHING = 0.8;

export function utilization(window: WindowLimit, spent: number): number {
  return window.limit === 0 ? 100 : (spent / window.limit) * 100;
}

/** Sets the usage headers of interface 8.6 and records on the row the usage that the decision was based on. */
export function setConsumptionHeaders(call: Call, plan: Plan, { spent, levels, inFlight }: Admitted): void {
  let tightest = -1;
  let most = -1;
  let warned = -1;
  for (let i = 0; i < plan.windows.length; i++) {
    const window = plan.windows[i] as WindowLimit;
    if (window.measure === "tool_calls") continue;
    const used = utilization(window, spent[i] as number);
    if (used > most) {
      most = used;
      tightest = i;
    }
    const crossed = (window.warnAt !== null && (spent[i] as number) >= window.warnAt) || (!window.hard && used >= 100);
    if (crossed && (warned < 0 || used > utilization(plan.windows[warned] as WindowLimit, spent[warned] as number))) warned = i;
  }
  const headers = call.answerHeaders;
  const pace = tightestPace(plan, levels, inFlight);
  const utilized = Math.max(most, pace?.used ?? -1);
  if (utilized >= 0) headers["x-gw-usage-utilization"] = String(Math.min(100, Math.round(utilized)));
  if (pace !== null && pace.used > most && pace.used >= APPROACHING * 100) headers["x-usage-warning"] = pace.text;
  if (tightest < 0) return;
  const text = (index: number) => {
    const window = plan.windows[index] as WindowLimit;
    // Only the limit's type: group names may contain characters that headers do not allow.
    return `${limitWords(window.limitType)} limit: ${amountText(window, spent[index] as number)} of ${amountText(window, window.limit)} used`;
  };
  if (warned >= 0) headers["x-gw-usage-warning"] = text(warned);
  if (warned >= 0 || (most >= APPROACHING * 100 && most >= (pace?.used ?? 0)))
    headers["x-usage-warning"] = text(warned >= 0 ? warned : tightest);
  const window = plan.windows[tightest] as WindowLimit;
  call.row.pre_action_state = {
    kind: "usage",
    limit_type: window.limitType,
    group_id: (plan.scopes[window.scope] as Scope).groupId,
    current: String(spent[tightest]),
    limit: String(window.limit),
  };
}
