import type { Consumption } from "@gatehouse/contracts/limits";
import { microsFromUsd, usdFromMicros } from "../../kernel/money.ts";
import { readPolicyRows } from "../../store/groups/group-policy-rows.ts";
import { type UsageTotal, usageTotals } from "../../store/usage/usage-totals.ts";
import { notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";
import type { Fields } from "./merge.ts";
import { setsQuota } from "./own-limits.ts";
import type { GroupNode, PolicyTree } from "./policy-tree.ts";
import { policyTreeOf } from "./policy-rows.ts";
import { type Quota, QUOTAS } from "./quotas.ts";
import { periodEnd, periodOf, utcDay } from "./periods.ts";

type Limit = Consumption["limits"][number];

const COLUMN: Record<Quota, keyof UsageTotal> = {
  "budget.daily_limit_usd": "day_micros",
  "budget.monthly_limit_usd": "month_micros",
  "tokens.daily_limit": "day_tokens",
  "tokens.monthly_limit": "month_tokens",
  "requests.daily_limit": "day_requests",
  "requests.monthly_limit": "month_requests",
};

/** The name of a quota in refusals and alerts, such as `daily_tokens`. */
export function limitTypeOf(quota: Quota): string {
  return `${quota.includes("daily") ? "daily" : "monthly"}_${quota.slice(0, quota.indexOf("."))}`;
}

/** A quota that a group sets. */
interface HeldQuota {
  readonly holder: GroupNode;
  /** The model it refines; '' for all models. */
  readonly item: string;
  readonly quota: Quota;
  readonly effective: Fields;
}

function quotasOf(tree: PolicyTree, holders: readonly GroupNode[]): HeldQuota[] {
  const items = ["", ...tree.itemsOf("llm_limits")];
  return holders.flatMap((holder) =>
    items.flatMap((item) => {
      const effective = tree.effective(holder.id, "llm_limits", item);
      const own = tree.ownFields(holder.id, "llm_limits", item);
      return QUOTAS.filter((quota) => setsQuota(own, effective, quota)).map((quota) => ({ holder, item, quota, effective }));
    }),
  );
}

/** The usage of all the holders' branches, by group. The last holder is an ancestor of the others, so its branch covers theirs. */
async function usedUnder(
  directory: Directory,
  tenantId: string,
  tree: PolicyTree,
  quotas: readonly HeldQuota[],
  now: number,
): Promise<Map<string, UsageTotal[]>> {
  const byGroup = new Map<string, UsageTotal[]>();
  const farthest = quotas.at(-1)?.holder;
  if (farthest === undefined) return byGroup;
  const totals = await usageTotals(directory.db, tenantId, {
    day: utcDay(now),
    month: quotas.some(({ quota }) => periodOf(quota) === "month"),
    modelIds: [...new Set(quotas.map(({ item }) => item))].filter((item) => item !== ""),
    groupIds: tree.branch(farthest.id).map(({ id }) => id),
  });
  for (const total of totals) {
    const known = byGroup.get(total.resource_group_id);
    if (known === undefined) byGroup.set(total.resource_group_id, [total]);
    else known.push(total);
  }
  return byGroup;
}

/** Each quota that the group draws on, its own first, with the usage of its branch in the current window, and by which groups. */
export async function consumptionOf(directory: Directory, tenantId: string, groupId: string): Promise<Consumption> {
  return consumptionIn(directory, tenantId, policyTreeOf(await readPolicyRows(directory.db, tenantId)), groupId);
}

/** Like `consumptionOf`, for a given tree of documents. */
export async function consumptionIn(directory: Directory, tenantId: string, tree: PolicyTree, groupId: string): Promise<Consumption> {
  const now = directory.clock.now();
  const self = tree.node(groupId);
  if (self === undefined) throw notFound("resource group");
  const quotas = quotasOf(tree, [self, ...tree.above(groupId)]);
  const byGroup = await usedUnder(directory, tenantId, tree, quotas, now);
  const limits = quotas.map(({ holder, item, quota, effective }): Limit => {
    const modelId = item === "" ? null : item;
    const drawn = drawnBy(tree, holder.id, quota, modelId, byGroup);
    const limit = effective.get(quota) as number;
    const current = drawn.reduce((sum, { current: part }) => sum + part, 0);
    const money = quota.startsWith("budget.");
    const shown = (value: number) => (money ? usdFromMicros(value) : value);
    return {
      group_id: holder.id,
      group_name: holder.name,
      inherited: holder.id !== groupId,
      model_id: modelId,
      limit_type: limitTypeOf(quota),
      current: shown(current),
      limit,
      utilization_percent: percent(current, money ? microsFromUsd(limit) : limit),
      blocks: !money || effective.get("budget.hard_stop") === true,
      resets_at: new Date(periodEnd(periodOf(quota), now)).toISOString(),
      drawn_by: drawn.map((one) => ({ ...one, current: shown(one.current) })),
    };
  });
  return { group_id: groupId, at: new Date(now).toISOString(), limits };
}

function drawnBy(
  tree: PolicyTree,
  holderId: string,
  quota: Quota,
  modelId: string | null,
  byGroup: ReadonlyMap<string, readonly UsageTotal[]>,
) {
  const drawn: { group_id: string; group_name: string; current: number }[] = [];
  for (const node of tree.branch(holderId)) {
    let current = 0;
    for (const total of byGroup.get(node.id) ?? []) if (total.model_id === modelId) current += total[COLUMN[quota]] as number;
    if (current > 0) drawn.push({ group_id: node.id, group_name: node.name, current });
  }
  return drawn.sort((a, b) => b.current - a.current);
}

function percent(current: number, limit: number): number {
  return limit === 0 ? 100 : Math.round((current / limit) * 1000) / 10;
}
