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
  /** The number of changes, including those that did not fit into `changes`. */
  readonly total: number;
}

/**
 * What would change in the group and below it; changes of a single item are listed only if they differ from those for all
 * items. Yields between items, so that other work gets its turn.
 */
export function* policyChanges(
  { before, after, itemId }: PlannedPolicy,
  { groupId, kind }: PolicyOf,
  most: number,
): InTurns<PolicyChanges> {
  const changes: Change[] = [];
  let total = 0;
  // Groups without documents share their parent's map, so the changes can be reused.
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

/** Pairs the same groups of both trees. */
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
      const payload = JSON.stringify(change);
      if (item === "") ofAll.add(payload);
      else if (ofAll.has(payload)) continue;
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
