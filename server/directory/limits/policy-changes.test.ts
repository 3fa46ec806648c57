import { expect, test } from "bun:test";
import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { cpuMs, fixedWorkMs } from "../../../tests/support/processes/cpu-time.ts";
import { runToEnd } from "../../kernel/scheduling/in-turns.ts";
import { policyChanges } from "./policy-changes.ts";
import { type GroupNode, PolicyTree, type StoredPolicy } from "./policy-tree.ts";

const KIND = "llm_limits";
const nodesOf = (parents: readonly (number | null)[]): GroupNode[] =>
  parents.map((parent, i) => ({ id: `g${i}`, name: `group ${i}`, parentId: parent === null ? null : `g${parent}` }));
const policy = (group: number, itemId: string, daily: number, warning: number | null = null): StoredPolicy => ({
  groupId: `g${group}`,
  kind: KIND,
  itemId,
  document: { requests: { daily_limit: daily, daily_warning_percent: warning } },
});

/** Groups, each with its parent's index and its documents, and which document is replaced by what. */
const world = fc
  .integer({ min: 1, max: 9 })
  .chain((size) =>
    fc.record({
      parents: fc.tuple(...Array.from({ length: size }, (_, i) => (i === 0 ? fc.constant(null) : fc.option(fc.nat(i - 1), { freq: 8 })))),
      said: fc.uniqueArray(
        fc.record({
          group: fc.nat(size - 1),
          item: fc.constantFrom("", "a", "b"),
          daily: fc.integer({ min: 1, max: 9 }),
          warning: fc.option(fc.integer({ min: 1, max: 3 })),
        }),
        { selector: ({ group, item }) => `${group} ${item}`, maxLength: 12 },
      ),
      planned: fc.record({
        group: fc.nat(size - 1),
        item: fc.constantFrom("", "a", "b"),
        daily: fc.integer({ min: 1, max: 9 }),
        warning: fc.option(fc.integer({ min: 1, max: 3 })),
      }),
    }),
  );

test("previewed changes equal the difference of the effective limits of every group and item", () => {
  fc.assert(
    fc.property(world, ({ parents, said, planned }) => {
      const treeWith = (all: typeof said) =>
        new PolicyTree(
          nodesOf(parents as (number | null)[]),
          all.map(({ group, item, daily, warning }) => policy(group, item, daily, warning)),
        );
      const before = treeWith(said);
      const after = treeWith([...said.filter(({ group, item }) => group !== planned.group || item !== planned.item), planned]);
      const groupId = `g${planned.group}`;
      const { changes, total } = runToEnd(policyChanges({ before, after, itemId: planned.item }, { groupId, kind: KIND }, 1_000));
      const inBranch = (id: string) => after.branch(groupId).some((node) => node.id === id);
      const expected = [...after.groups].flatMap((node) => {
        const differing = (item: string) => {
          const [was, now] = [before.effective(node.id, KIND, item), after.effective(node.id, KIND, item)];
          return [...new Set([...was.keys(), ...now.keys()])]
            .filter((field) => !isDeepStrictEqual(was.get(field), now.get(field)))
            .map((field) => JSON.stringify([field, was.get(field) ?? null, now.get(field) ?? null]));
        };
        if (!inBranch(node.id)) return [];
        const ofAll = planned.item === "" ? differing("") : [];
        const items = planned.item === "" ? ["a", "b"] : [planned.item];
        return [
          ...ofAll.map((told) => `${node.id}  ${told}`),
          ...items.flatMap((item) => differing(item).flatMap((told) => (ofAll.includes(told) ? [] : [`${node.id} ${item} ${told}`]))),
        ];
      });
      const found = changes.map(
        (change) => `${change.group_id} ${change.item_id ?? ""} ${JSON.stringify([change.field, change.before, change.after])}`,
      );
      expect(found.toSorted()).toEqual(expected.toSorted());
      expect(total).toBe(found.length);
    }),
    { numRuns: 5_000 },
  );
});

test("a model limit set in another branch does not change the effective limits of this group", () => {
  const tree = new PolicyTree(nodesOf([null, 0, 0]), [policy(0, "", 9, 50), policy(1, "", 9, 80), policy(2, "m", 5)]);
  const warning = (item: string) => tree.effective("g1", KIND, item).get("requests.daily_warning_percent");
  expect([warning("m"), warning("other")]).toEqual([80, 80]);
});

test.each<[string, (group: number) => StoredPolicy[], number]>([
  ["set no limits of their own", () => [], 1],
  ["each set a limit", (group) => [policy(group, "", 50)], 20],
])("a preview over 2,000 groups and 200 models with limits of their own is fast and yields if groups %s", (_name, own, most) => {
  const parents = Array.from({ length: 2_000 }, (_, i) => (i === 0 ? null : 0));
  const refined = Array.from({ length: 200 }, (_, i) => policy(0, `m${i}`, 40));
  const treeWith = (daily: number) =>
    new PolicyTree(nodesOf(parents), [...refined, policy(0, "", daily), ...parents.slice(1).flatMap((_, i) => own(i + 1))]);
  const [before, after] = [treeWith(100), treeWith(30)];
  const began = cpuMs();
  const work = policyChanges({ before, after, itemId: "" }, { groupId: "g0", kind: KIND }, 500);
  let yielded = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) yielded++;
  expect([step.value.changes.length, step.value.total]).toEqual([500, 2_000 * 201]);
  expect(cpuMs(began)).toBeLessThan(most * fixedWorkMs());
  // So that other work gets its turn.
  expect(yielded).toBeGreaterThan(200);
});
