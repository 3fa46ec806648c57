import type { PolicyPreview } from "@gatehouse/contracts/limits";
import { isDeepStrictEqual } from "node:util";
import type { InTurns } from "../../kernel/scheduling/in-turns.ts";
import type { PlannedPolicy, PolicyOf } from "./group-policies.ts";
import { type Fields, NOTHING } from "./merge.ts";
import type { PolicyTree } from "./policy-tree.ts";

type Change = PolicyPreview["changes"][number];
type ItemChange = Omit<Change, "group_id" | "group_name">;
type InForce = ReadonlyMap<string, Fields>;

interface PolicyChanges {
  readonly changes: Change[];
  /** Of all, those that `changes` had no room for among them. */
  readonly total: number;
}

/**
 * What would be in force otherwise than now, in the group and below it, of single items only where it is not the same as of all.
 * Yields after each group that says something of its own.
 */
export function* policyChanges(
  { before, after, itemId }: PlannedPolicy,
  { groupId, kind }: PolicyOf,
  most: number,
): InTurns<PolicyChanges> {
  const changes: Change[] = [];
  let total = 0;
  // Groups that say nothing are as their parents are, and so is what changes for them.
  const known = new WeakMap<InForce, { readonly now: InForce; readonly found: readonly ItemChange[] }>();
  for (const [{ node, fields: was }, { fields: now }] of together(before, after, { groupId, kind })) {
    const same = known.get(was);
    const found = same?.now === now ? same.found : yield* itemChanges(was, now, itemId);
    known.set(was, { now, found });
    total += found.length;
    for (const change of found.slice(0, most - changes.length)) changes.push({ group_id: node.id, group_name: node.name, ...change });
  }
  return { changes, total };
}

/** The same groups of both trees, side by side. */
function* together(before: PolicyTree, after: PolicyTree, { groupId, kind }: PolicyOf) {
  const then = before.inForce(groupId, kind);
  for (const now of after.inForce(groupId, kind)) {
    const was = then.next();
    if (was.done !== true) yield [was.value, now] as const;
  }
}

function* itemChanges(was: InForce, now: InForce, itemId: string): InTurns<ItemChange[]> {
  const ofAll = new Set<string>();
  const found: ItemChange[] = [];
  for (const item of itemId === "" ? new Set(["", ...was.keys(), ...now.keys()]) : [itemId]) {
    yield;
    for (const change of changedFields(fieldsOfItem(was, item), fieldsOfItem(now, item))) {
      const told = JSON.stringify(change);
      if (item === "") ofAll.add(told);
      else if (ofAll.has(told)) continue;
      found.push({ item_id: item === "" ? null : item, ...change });
    }
  }
  return found;
}

const fieldsOfItem = (fields: InForce, item: string): Fields => fields.get(item) ?? fields.get("") ?? NOTHING;

function changedFields(before: Fields, after: Fields): Pick<Change, "field" | "before" | "after">[] {
  if (before === after) return [];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((field) => !isDeepStrictEqual(before.get(field), after.get(field)))
    .map((field) => ({ field, before: before.get(field) ?? null, after: after.get(field) ?? null }));
}
