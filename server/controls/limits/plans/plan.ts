import type { RunBounds } from "../run-bounds.ts";
import type { GroupScope, ModelEntry } from "../../../directory/snapshot.ts";
import type { Fields } from "../../../directory/limits/merge.ts";
import { setsLimit, setsQuota } from "../../../directory/limits/own-limits.ts";
import { periodEnd } from "../../../directory/limits/periods.ts";
import { microsFromUsd } from "../../../kernel/money.ts";
import type { Call } from "../../../road/call.ts";
import type { BucketMeasure, Plan, Scope, WindowLimit, WindowMeasure } from "../counters/counters.ts";
import { addWindows, type Parts, type QuotaTerms, type WindowsOf } from "./plan-parts.ts";
import { addCapacity, capacityOf } from "./capacity-plan.ts";

/**
 * The limits on a group's calls to a model, computed once per day and configuration: those that the group and each of
 * its ancestors set for all models and for this one, and the model's own ceilings.
 */
export interface CallPlan extends Plan {
  /** It has a hard budget, so the call needs a price. */
  readonly needsPrice: boolean;
  /** It has hard token or cost windows, so the call's output needs a bound. */
  readonly needsBound: boolean;
}

const QUOTAS: readonly QuotaTerms[] = [
  ["requests.daily_limit", "requests", "day", "requests.daily_warning_percent", "daily_requests"],
  ["requests.monthly_limit", "requests", "month", "requests.monthly_warning_percent", "monthly_requests"],
  ["tokens.daily_limit", "tokens", "day", "tokens.daily_warning_percent", "daily_tokens"],
  ["tokens.monthly_limit", "tokens", "month", "tokens.monthly_warning_percent", "monthly_tokens"],
  ["budget.daily_limit_usd", "micros", "day", "budget.daily_warning_percent", "daily_budget"],
  ["budget.monthly_limit_usd", "micros", "month", "budget.monthly_warning_percent", "monthly_budget"],
];

const BUCKETS: readonly (readonly [path: string, measure: BucketMeasure, burst: string, limitType: string])[] = [
  ["throughput.max_requests_per_minute", "requests", "throughput.request_burst", "requests_per_minute"],
  ["throughput.max_input_tokens_per_minute", "input", "throughput.tokens_burst", "input_tokens_per_minute"],
  ["throughput.max_output_tokens_per_minute", "output", "throughput.tokens_burst", "output_tokens_per_minute"],
  ["throughput.max_usd_per_minute", "micros", "throughput.usd_burst", "usd_per_minute"],
];

/** All limits on a call to the model. `at` (ms) determines the windows. */
export function planFor(scope: GroupScope, model: ModelEntry, at: number): CallPlan {
  return planOf(scope, model, at, true);
}

/** The limits on one member of a routing group: its own ceilings, and what groups set for it alone. */
export function memberPlan(scope: GroupScope, model: ModelEntry, at: number): CallPlan {
  return planOf(scope, model, at, false);
}

/**
 * The limits on one of the gateway's own calls: tokens and cost, which count like any other usage. Request counts,
 * rates and concurrency apply to callers only.
 */
export function nestedPlan(scope: GroupScope, model: ModelEntry, at: number): CallPlan {
  return withoutRateLimits(planOf(scope, model, at, true));
}

/** The plan without request counts, rate limits and concurrency limits. */
export function withoutRateLimits(plan: CallPlan): CallPlan {
  return {
    ...plan,
    scopes: plan.scopes.map((scope) => ({ ...scope, maxConcurrent: null })),
    windows: plan.windows.filter(({ measure }) => measure === "tokens" || measure === "micros"),
    buckets: plan.buckets.filter(({ measure }) => measure !== "requests"),
    unpaced: true,
  };
}

/** Share of rates and concurrency that batch calls leave to interactive calls. */
const LEFT = 0.25;

/** The plan for a batch call, which leaves a share of every rate and of concurrency to interactive calls; unchanged for other calls. */
export function leavingRoom({ audit }: Pick<Call, "audit">, plan: CallPlan): CallPlan {
  if (audit.proxyType !== "batch") return plan;
  if (plan.buckets.length === 0 && !plan.scopes.some(({ maxConcurrent }) => maxConcurrent !== null)) return plan;
  return {
    ...plan,
    scopes: plan.scopes.map((scope) =>
      scope.maxConcurrent === null
        ? scope
        : { ...scope, maxConcurrent: Math.max(1, scope.maxConcurrent - Math.ceil(scope.maxConcurrent * LEFT)) },
    ),
    buckets: plan.buckets.map((bucket) => ({ ...bucket, leave: Math.min(bucket.capacity * LEFT, Math.max(0, bucket.capacity - 1)) })),
  };
}

function planOf(scope: GroupScope, model: ModelEntry, at: number, groupWide: boolean): CallPlan {
  const { policies } = scope.tenant;
  const parts: Parts = { scopes: [], windows: [], buckets: [] };
  for (const { id, name } of scope.chain) {
    const truth = { kind: "group", groupId: id } as const;
    const epoch = policies.epochOf(id);
    const own = policies.ownFields(id, "llm_limits");
    if (groupWide && own.size > 0)
      addLimits(
        parts,
        {
          named: { key: `g/${id}`, kind: "group", groupId: id, groupName: name },
          counted: { prefix: `g/${id}`, epoch },
          own,
          effective: policies.effective(id, "llm_limits"),
          truth: (period) => (period === "hour" ? null : { ...truth, modelId: null, period }),
        },
        at,
      );
    const ofModel = policies.ownFields(id, "llm_limits", model.id);
    if (ofModel.size > 0)
      addLimits(
        parts,
        {
          named: { key: `g/${id}/m/${model.id}`, kind: "model", groupId: id, groupName: name, itemName: model.name },
          counted: { prefix: `g/${id}/m/${model.id}`, epoch },
          own: ofModel,
          effective: policies.effective(id, "llm_limits", model.id),
          truth: (period) => (period === "hour" ? null : { ...truth, modelId: model.id, period }),
        },
        at,
      );
  }
  addCapacity(parts, `c/model/${model.id}`, model.name, {
    requestsPerMinute: model.rateLimitRpm,
    tokensPerMinute: model.rateLimitTpm,
    concurrent: model.maxConcurrent,
  });
  const holding = parts.windows.filter(({ hard, measure }) => hard && (measure === "tokens" || measure === "micros"));
  return {
    tenantId: scope.tenant.id,
    ...parts,
    needsPrice: holding.some(({ measure }) => measure === "micros"),
    needsBound: holding.length > 0,
  };
}

/** When the plan must be recomputed (ms): at the end of the hour if it has hourly windows, otherwise of the day. */
export function planExpiresAt(plan: CallPlan, at: number): number {
  return plan.windows.some(({ limitType }) => limitType.endsWith("_per_hour")) ? periodEnd("hour", at) : periodEnd("day", at);
}

/** The limits that a group sets, for all its models or for one. */
interface LimitsOfGroup extends Omit<WindowsOf, "scope" | "quotas"> {
  readonly named: Pick<Scope, "key" | "kind" | "groupId" | "groupName" | "itemName">;
  /** Fields set by the group itself; `effective` also includes inherited ones. */
  readonly own: Fields;
}

function addLimits(parts: Parts, { named, counted, own, effective, truth }: LimitsOfGroup, at: number): void {
  const concurrent = own.has("concurrency.max_concurrent") ? (effective.get("concurrency.max_concurrent") as number) : null;
  const cooldown = (effective.get("throughput.cooldown_seconds") as number | undefined) ?? 0;
  const scope = parts.scopes.push({ ...named, cooldownMs: cooldown * 1000, maxConcurrent: concurrent }) - 1;
  for (const [path, measure, burst, limitType] of BUCKETS) {
    if (!setsLimit(own, effective, path, [burst, "throughput.cooldown_seconds"])) continue;
    const amount = (value: number) => (measure === "micros" ? microsFromUsd(value) : value);
    const perMinute = amount(effective.get(path) as number);
    const inForce = effective.get(burst) as number | undefined;
    const capacity = capacityOf(perMinute, inForce === undefined ? null : amount(inForce), own.has(path) && !own.has(burst));
    parts.buckets.push({ key: `${named.key}/${measure}`, scope, measure, perMinute, capacity, limitType });
  }
  const quotas = QUOTAS.filter(([path]) => setsQuota(own, effective, path));
  addWindows(parts, { scope, counted, quotas, effective, truth }, at);
}

/** The plan with the budgets of the group and each of its ancestors added. */
export function withBudgets(plan: CallPlan, scope: GroupScope, at: number): CallPlan {
  const { policies } = scope.tenant;
  const parts: Parts = { scopes: [...plan.scopes], windows: [...plan.windows], buckets: [...plan.buckets] };
  for (const { id, name } of scope.chain) {
    const own = policies.ownFields(id, "llm_limits");
    const effective = policies.effective(id, "llm_limits");
    const budgets = QUOTAS.filter(([path, measure]) => measure === "micros" && setsQuota(own, effective, path));
    if (budgets.length === 0) continue;
    const scopes = parts.scopes.push({ key: `b/${id}`, kind: "group", groupId: id, groupName: name, cooldownMs: 0, maxConcurrent: null });
    addWindows(
      parts,
      {
        scope: scopes - 1,
        counted: { prefix: `g/${id}`, epoch: policies.epochOf(id) },
        quotas: budgets,
        effective,
        truth: (period) => (period === "hour" ? null : { kind: "group", groupId: id, modelId: null, period }),
      },
      at,
    );
  }
  return { ...plan, ...parts };
}

/** A plan of tokens and cost only, with the run's ceilings if it has any. */
export function nestedInRun(plan: CallPlan, rootTaskId: string | null, bounds: RunBounds | null, alone = false): CallPlan {
  return rootTaskId === null || bounds === null ? plan : withoutRateLimits(withRun(plan, rootTaskId, bounds, alone));
}

/**
 * The plan with the ceilings of the call's run added (interface 8.5). `alone`: the run consists of this call only, so
 * nothing can have been used.
 */
export function withRun(plan: CallPlan, rootTaskId: string, { ceilings, setBy }: RunBounds, alone: boolean): CallPlan {
  const scope = plan.scopes.length;
  const window = (path: string, measure: WindowMeasure): WindowLimit[] => {
    const value = ceilings.get(path) as number | undefined;
    if (value === undefined) return [];
    const limit = measure === "micros" ? microsFromUsd(value) : value;
    return [
      {
        key: `r/${rootTaskId}/${measure}`,
        scope,
        measure,
        limit,
        hard: true,
        warnAt: null,
        startsAt: 0,
        resetsAt: Number.POSITIVE_INFINITY,
        limitType: path,
        truth: alone ? null : { kind: "run", rootTaskId },
        epoch: 0,
      },
    ];
  };
  const windows = [
    ...window("max_llm_calls_per_run", "requests"),
    ...window("max_tokens_per_run", "tokens"),
    ...window("max_cost_per_run_usd", "micros"),
  ];
  const [first] = windows;
  if (first === undefined) return plan;
  const group = setBy(first.limitType);
  return {
    ...plan,
    scopes: [
      ...plan.scopes,
      { key: `r/${rootTaskId}`, kind: "run", groupId: group.id, groupName: group.name, cooldownMs: 0, maxConcurrent: null },
    ],
    windows: [...plan.windows, ...windows],
    needsPrice: plan.needsPrice || windows.some(({ measure }) => measure === "micros"),
    needsBound: plan.needsBound || windows.some(({ measure }) => measure !== "requests"),
  };
}
