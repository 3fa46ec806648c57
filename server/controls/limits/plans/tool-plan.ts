import { type Fields, NOTHING } from "../../../directory/limits/merge.ts";
import { setsLimit } from "../../../directory/limits/own-limits.ts";
import { periodEnd, periodStart, utcDay } from "../../../directory/limits/periods.ts";
import type { GroupScope } from "../../../directory/snapshot.ts";
import type { BucketLimit, Scope, WindowLimit } from "../counters/counters.ts";
import type { CallPlan } from "./plan.ts";
import { capacityOf } from "./capacity-plan.ts";
import type { Call } from "../../../road/call.ts";
import { toolsOf } from "../../../road/target.ts";

const PERIODS = [
  ["frequency.max_calls_per_hour", "hour", "calls_per_hour"],
  ["frequency.max_calls_per_day", "day", "calls_per_day"],
] as const;

/** The policy document of the limits, the key prefix of their counters, and the source of their usage totals. */
interface Counted {
  readonly document: "mcp_limits" | "skill_limits";
  readonly prefix: "tg" | "sg";
  truth(groupId: string, item: string | null): WindowLimit["truth"];
}
const TOOLS: Counted = { document: "mcp_limits", prefix: "tg", truth: (groupId, serverId) => ({ kind: "tools", groupId, serverId }) };
const SKILLS: Counted = { document: "skill_limits", prefix: "sg", truth: (groupId, skillId) => ({ kind: "skills", groupId, skillId }) };

/** A tool server, an agent in its place, or a skill. */
interface LimitedItem {
  readonly id: string;
  readonly name: string;
}

/** The plan for a call on its route, with its cache key; on the skill server, the limits on skills apply. */
export function routePlan(
  call: Call,
  scope: GroupScope,
  server: LimitedItem,
): readonly [key: string, make: (principal: string, at: number) => CallPlan] {
  const route = toolsOf(call);
  if (route?.own !== "skills") return [`tools ${server.id}`, (...by) => toolPlan(scope, server, ...by)];
  const skill = route.skill ?? server;
  return [`skills ${skill.id}`, (...by) => planBy(SKILLS, scope, skill, ...by)];
}

/**
 * The limits on using a tool server's tool, prompt or resource (interface 8.4): those that the group and each of its
 * ancestors set for all servers and for this one. `max_concurrency_per_user` counts per `principal`.
 */
export function toolPlan(scope: GroupScope, server: LimitedItem, principal: string, at: number): CallPlan {
  return planBy(TOOLS, scope, server, principal, at);
}

function planBy({ document, prefix, truth }: Counted, scope: GroupScope, server: LimitedItem, principal: string, at: number): CallPlan {
  const { policies } = scope.tenant;
  const scopes: Scope[] = [];
  const windows: WindowLimit[] = [];
  const buckets: BucketLimit[] = [];
  for (const { id, name } of scope.chain) {
    for (const item of ["", server.id]) {
      const own = policies.ownFields(id, document, item);
      if (own === NOTHING || own.size === 0) continue;
      const key = item === "" ? `${prefix}/${id}` : `${prefix}/${id}/s/${item}`;
      const effective = policies.effective(id, document, item);
      const limitAt = (path: string) => (own.has(path) ? (effective.get(path) as number) : null);
      const named = { groupId: id, groupName: name } as const;
      const index =
        scopes.push({
          ...named,
          key,
          ...(item === "" ? { kind: "group" } : { kind: "server", itemName: server.name }),
          cooldownMs: cooldownOf(effective),
          maxConcurrent: limitAt("execution.max_concurrency_per_group"),
        }) - 1;
      const perUser = limitAt("execution.max_concurrency_per_user");
      if (perUser !== null) scopes.push({ ...named, key: `${key}/u/${principal}`, kind: "user", cooldownMs: 0, maxConcurrent: perUser });
      const perMinute = effective.get("frequency.max_calls_per_minute") as number;
      if (setsLimit(own, effective, "frequency.max_calls_per_minute", ["frequency.burst_limit", "frequency.cooldown_seconds"])) {
        const burst = (effective.get("frequency.burst_limit") as number | undefined) ?? null;
        const capacity = capacityOf(perMinute, burst, own.has("frequency.max_calls_per_minute") && !own.has("frequency.burst_limit"));
        buckets.push({ key: `${key}/calls`, scope: index, measure: "requests", perMinute, capacity, limitType: "calls_per_minute" });
      }
      for (const [path, period, limitType] of PERIODS) {
        const limit = limitAt(path);
        if (limit === null) continue;
        const startsAt = periodStart(period, at);
        windows.push({
          key: `${key}/calls/${period}/${period === "hour" ? startsAt : utcDay(startsAt)}`,
          scope: index,
          measure: "requests",
          limit,
          hard: true,
          warnAt: null,
          startsAt,
          resetsAt: periodEnd(period, at),
          limitType,
          truth: truth(id, item === "" ? null : item),
          epoch: policies.epochOf(id),
        });
      }
    }
  }
  return { tenantId: scope.tenant.id, scopes, windows, buckets, needsPrice: false, needsBound: false };
}

function cooldownOf(effective: Fields): number {
  return ((effective.get("frequency.cooldown_seconds") as number | undefined) ?? 0) * 1000;
}
