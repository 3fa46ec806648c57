import type { ModelEntry } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import type { Denial } from "./admission/admission-answer.ts";
import type { Plan, Scope, WindowLimit } from "./counters/counters.ts";
import { limitWords } from "./limit-words.ts";

/** The amount in display units: US dollars for money. */
export function displayAmount(window: WindowLimit, amount: number): number {
  return window.measure === "micros" ? usdFromMicros(amount) : amount;
}

const seconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)));
/** A run's ceiling never resets, so there is no Retry-After. */
export const AT_CEILING = { "x-gw-usage-utilization": "100" };

const ITEM: Partial<Record<Scope["kind"], string>> = { model: "model", server: "tool server" };

/** The owner of a limit, in words for an error message. */
export function displayScope({ kind, groupName, itemName }: Scope): string {
  if (kind === "capacity") return `model ${JSON.stringify(groupName)}`;
  const group = `resource group ${JSON.stringify(groupName)}`;
  if (kind === "user") return `each user of ${group}`;
  return itemName === undefined ? group : `${ITEM[kind]} ${JSON.stringify(itemName)} in ${group}`;
}

/** The error of interface 7.1 for rates and concurrency, or of 7.2 for quotas. */
export function denialRefusal(plan: Plan, denial: Denial, now: number): Refusal {
  switch (denial.by) {
    case "window":
      return quotaRefusal(plan, denial.index, denial.spent, now);
    case "bucket": {
      const { scope, limitType } = plan.buckets[denial.index] as Plan["buckets"][number];
      return rateRefusal(plan.scopes[scope] as Scope, limitType, denial.retryAfterMs, `The limit on ${limitWords(limitType)} of`);
    }
    case "cooldown":
      return rateRefusal(
        plan.scopes[denial.scope] as Scope,
        denial.limitType,
        denial.retryAfterMs,
        `After its limit on ${limitWords(denial.limitType)} was reached, calls are locked for`,
      );
    case "concurrency": {
      const scope = plan.scopes[denial.scope] as Scope;
      return rateRefusal(scope, "max_concurrent", 1000, `The limit of ${scope.maxConcurrent} calls at once of`);
    }
  }
}

/** The rate limit that denied the call, and its group. */
export function rateOf(plan: Plan, denial: Exclude<Denial, { by: "window" }>): { readonly limit_type: string; readonly group_id: string } {
  const bucket = denial.by === "bucket" ? plan.buckets[denial.index] : undefined;
  const scope = plan.scopes[denial.by === "bucket" ? (bucket?.scope ?? 0) : denial.scope] as Scope;
  return { limit_type: bucket?.limitType ?? (denial.by === "cooldown" ? denial.limitType : "max_concurrent"), group_id: scope.groupId };
}

function rateRefusal(scope: Scope, limitType: string, retryAfterMs: number, what: string): Refusal {
  const message = what.startsWith("After") ? `${what} ${displayScope(scope)}.` : `${what} ${displayScope(scope)} is reached.`;
  return refuse("rate_limit_exceeded", message, {
    headers: { "retry-after": seconds(retryAfterMs), "x-gw-usage-utilization": "100" },
    extra: { scope: scope.kind, limit_type: limitType },
  });
}

export function quotaRefusal(plan: Plan, index: number, spent: number, now: number, held = false): Refusal {
  const window = plan.windows[index] as WindowLimit;
  const scope = plan.scopes[window.scope] as Scope;
  const [current, most] = [displayAmount(window, spent), displayAmount(window, window.limit)];
  const why = held ? "is held by calls in flight" : spent < window.limit ? "does not cover what this call could come to" : "is used up";
  const usage_limit = {
    group_id: scope.groupId,
    group_name: scope.groupName,
    limit_type: window.limitType,
    current_usage: current,
    max_limit: most,
  };
  if (scope.kind === "run")
    return refuse("run_ceiling_reached", `The run's ceiling ${window.limitType} (${current} of ${most} used) ${why}.`, {
      headers: AT_CEILING,
      extra: { usage_limit },
    });
  const retry = held ? "1" : seconds(window.resetsAt - now);
  return refuse(
    "usage_limit_reached",
    `The ${limitWords(window.limitType)} limit of ${displayScope(scope)} (${current} of ${most} used) ${why}.`,
    {
      headers: { "retry-after": retry, ...(held ? { "x-should-retry": "true" } : {}), "x-gw-usage-utilization": "100" },
      extra: { usage_limit },
    },
  );
}

export function unpricedRefusal(model: Pick<ModelEntry, "name">, what = "its input and output"): Refusal {
  return refuse(
    "model_unpriced",
    `The model ${JSON.stringify(model.name)} has no price for ${what}, so a budget that stops hard cannot cover a call to it.`,
  );
}
