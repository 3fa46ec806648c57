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

/** Which document the limits stand in, what the keys of its counters begin with, and where their use is written down. */
interface Counted {
  readonly document: "mcp_limits" | "skill_limits";
  readonly prefix: "tg" | "sg";
  truth(groupId: string, item: string | null): WindowLimit["truth"];
}
const TOOLS: Counted = { document: "mcp_limits", prefix: "tg", truth: (groupId, serverId) => ({ kind: "tools", groupId, serverId }) };
const SKILLS: Counted = { document: "skill_limits", prefix: "sg", truth: (groupId, skillId) => ({ kind: "skills", groupId, skillId }) };

/** What a tool server, an agent in its place or a skill is known by. */
interface LimitedItem {
  readonly id: string;
  readonly name: string;
}

/** What a call on its route is held to, with what tells its plan from others: of the server for skills, the limits on skills. */
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
 * What a call of a tool server's tool, prompt or resource is held to (interface 8.4): the group and each of its
 * ancestors, each with what it sets for all servers and for this one. `principal` is whom `max_concurrency_per_user`
 * counts.
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
      const said = (path: string) => (own.has(path) ? (effective.get(path) as number) : null);
      const named = { groupId: id, groupName: name } as const;
      const index =
        scopes.push({
          ...named,
          key,
          ...(item === "" ? { kind: "group" } : { kind: "server", itemName: server.name }),
          cooldownMs: cooldownOf(effective),
          maxConcurrent: said("execution.max_concurrency_per_group"),
        }) - 1;
      const perUser = said("execution.max_concurrency_per_user");
      if (perUser !== null) scopes.push({ ...named, key: `${key}/u/${principal}`, kind: "user", cooldownMs: 0, maxConcurrent: perUser });
      const perMinute = effective.get("frequency.max_calls_per_minute") as number;
      if (setsLimit(own, effective, "frequency.max_calls_per_minute", ["frequency.burst_limit", "frequency.cooldown_seconds"])) {
        const burst = (effective.get("frequency.burst_limit") as number | undefined) ?? null;
        const capacity = capacityOf(perMinute, burst, own.has("frequency.max_calls_per_minute") && !own.has("frequency.burst_limit"));
        buckets.push({ key: `${key}/calls`, scope: index, measure: "requests", perMinute, capacity, limitType: "calls_per_minute" });
      }
      for (const [path, period, limitType] of PERIODS) {
        const limit = said(path);
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
