import type { AlertWriter } from "../../directory/limits/alert-writer.ts";
import { APPROACHING, utilization } from "./consumption.ts";
import type { Plan, Scope, WindowLimit } from "./counters/counters.ts";
import { displayScope, displayAmount } from "./limit-refusals.ts";
import { amountText, limitWords } from "./limit-words.ts";

type Alerts = Pick<AlertWriter, "raise">;

/**
 * Raises alerts when a window's usage is at or above a threshold, whether or not this call crossed it: a limit may be set
 * in mid-window, and usage may have been loaded from the totals. A run's ceilings raise none; they affect only that run.
 */
export class ThresholdAlerts {
  /** Windows already warned about, so that calls can skip them. */
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
        title: `${percent} % of the ${limitWords(window.limitType)} limit is used`,
        threshold: displayAmount(window, window.warnAt),
        message: "",
      });
    }
    if (spent >= window.limit) this.reached(plan, index, spent);
  }

  /** A call was refused. One that asked for much while much is left says nothing about the limit, so it raises no alert. */
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
      title: `The ${limitWords(window.limitType)} limit is ${window.hard ? "reached" : "exceeded"}`,
      threshold: displayAmount(window, window.limit),
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
      current_value: displayAmount(window, spent),
      usage_limit: {
        limit_type: window.limitType,
        max_limit: displayAmount(window, window.limit),
        scope: scope.kind,
        group_name: scope.groupName,
        item_name: scope.itemName ?? null,
      },
      crossing: `${window.key}${window.epoch === 0 ? "" : `.${window.epoch}`} ${what.type} ${what.threshold}`,
      expires_at: new Date(window.resetsAt),
    });
  }
}

function whose(scope: Scope): string {
  const text = displayScope(scope);
  return scope.kind === "group" ? JSON.stringify(scope.groupName) : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
