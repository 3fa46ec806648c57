import type { AlertWriter } from "../../directory/limits/alert-writer.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import type { Call } from "../../road/call.ts";
import type { Plan, Scope, WindowLimit } from "./counters.ts";
import { named, shown } from "./limit-refusals.ts";

type Alerts = Pick<AlertWriter, "raise">;

/** Where a limit says nothing of its own, a call is warned from here on. */
const APPROACHING = 0.8;

const words = (limitType: string): string => limitType.replaceAll("_", " ");

function amountText(window: WindowLimit, amount: number): string {
  return window.measure === "micros" ? `$${usdFromMicros(amount)}` : String(amount);
}

function utilization(window: WindowLimit, spent: number): number {
  return window.limit === 0 ? 100 : (spent / window.limit) * 100;
}

/** Sets the consumption headers of 8.6 and notes on the row what the decision saw. */
export function setConsumptionHeaders(call: Call, plan: Plan, spent: readonly number[], levels: readonly number[]): void {
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
  const pace = tightestPace(plan, levels);
  const utilized = Math.max(most, pace?.used ?? -1);
  if (utilized >= 0) headers["x-gw-usage-utilization"] = String(Math.min(100, Math.round(utilized)));
  if (pace !== null && pace.used > most && pace.used >= APPROACHING * 100) headers["x-usage-warning"] = pace.text;
  if (tightest < 0) return;
  const text = (index: number) => {
    const window = plan.windows[index] as WindowLimit;
    // Names may hold characters a header may not: the limit says enough.
    return `${words(window.limitType)} limit: ${amountText(window, spent[index] as number)} of ${amountText(window, window.limit)} used`;
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

/** The throughput limit that is used most, in percent of what its bucket holds. */
function tightestPace(plan: Plan, levels: readonly number[]): { readonly used: number; readonly text: string } | null {
  let found: { readonly used: number; readonly text: string } | null = null;
  for (const [i, level] of levels.entries()) {
    const { capacity, limitType } = plan.buckets[i] as Plan["buckets"][number];
    const taken = Math.min(capacity, Math.max(0, capacity - level));
    const used = capacity === 0 ? 100 : (taken / capacity) * 100;
    if (used > (found?.used ?? -1)) found = { used, text: `${words(limitType)} limit: ${Math.ceil(taken - 1e-6)} of ${capacity} used` };
  }
  return found;
}

/**
 * Raises alerts when the use of a window crosses a threshold. What counts is what is used, and not that this call made it so:
 * a limit may be set in mid-window, and what is used of it may have been read from the truth. A run's ceilings stop the
 * one run and are over with it.
 */
export class ThresholdAlerts {
  /** The windows of plans that calls need not look at any more. */
  private readonly warned = new WeakSet<WindowLimit>();
  private readonly full = new WeakSet<WindowLimit>();
  private readonly alerts: Alerts;

  constructor(alerts: Alerts) {
    this.alerts = alerts;
  }

  used(plan: Plan, index: number, spent: number): void {
    const window = plan.windows[index] as WindowLimit;
    if (window.warnAt !== null && window.limit > 0 && spent >= window.warnAt && !this.warned.has(window)) {
      this.warned.add(window);
      const percent = Math.round((window.warnAt / window.limit) * 100);
      this.raise(plan, index, spent, {
        type: "usage_warning",
        severity: "warning",
        title: `${percent} % of the ${words(window.limitType)} limit is used`,
        threshold: shown(window, window.warnAt),
        message: "",
      });
    }
    if (spent >= window.limit) this.reached(plan, index, spent);
  }

  /** Of a call that was refused: one that asked for much while much is left says nothing of the limit. */
  refused(plan: Plan, index: number, spent: number): void {
    if (utilization(plan.windows[index] as WindowLimit, spent) >= APPROACHING * 100) this.reached(plan, index, spent);
  }

  private reached(plan: Plan, index: number, spent: number): void {
    const window = plan.windows[index] as WindowLimit;
    if (this.full.has(window)) return;
    this.full.add(window);
    const which = spent < window.limit ? "Calls that could come to more than what is left" : "Calls";
    this.raise(plan, index, spent, {
      type: window.hard ? "usage_limit_reached" : "budget_exceeded",
      severity: window.hard ? "critical" : "warning",
      title: `The ${words(window.limitType)} limit is ${window.hard ? "reached" : "exceeded"}`,
      threshold: shown(window, window.limit),
      message: window.hard ? ` ${which} are refused until the window turns.` : " The budget does not stop hard: calls go on.",
    });
  }

  private raise(
    plan: Plan,
    index: number,
    spent: number,
    what: { type: string; severity: string; title: string; threshold: number; message: string },
  ): void {
    const window = plan.windows[index] as WindowLimit;
    const scope = plan.scopes[window.scope] as Scope;
    if (scope.kind === "run") return;
    this.alerts.raise({
      tenant_id: plan.tenantId,
      alert_type: what.type,
      severity: what.severity,
      title: what.title,
      message: `${whose(scope)} has used ${amountText(window, spent)} of ${amountText(window, window.limit)}.${what.message}`,
      group_id: scope.groupId,
      threshold_value: what.threshold,
      current_value: shown(window, spent),
      crossing: `${window.key} ${what.type} ${what.threshold}`,
      expires_at: new Date(window.resetsAt),
    });
  }
}

function whose(scope: Scope): string {
  const text = named(scope);
  return scope.kind === "group" ? JSON.stringify(scope.groupName) : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
