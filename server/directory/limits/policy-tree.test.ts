import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { quotaCapacityOf } from "./capacity.ts";
import { overcommittedQuotas } from "./overcommitted-quotas.ts";
import { documentOf, fieldsOf, loosenedFields, merge, NOTHING } from "./merge.ts";
import { type GroupNode, PolicyTree, type StoredPolicy } from "./policy-tree.ts";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";

const effective = (above: object, own: object) => documentOf(merge(fieldsOf(above as never), fieldsOf(own as never)));
const looser = (above: object, own: object) => loosenedFields(fieldsOf(above as never), fieldsOf(own as never)).map(({ field }) => field);

describe("merging parent and own limits", () => {
  test.each([
    ["a lower own ceiling applies", { tokens: { daily_limit: 5 } }, { tokens: { daily_limit: 3 } }, { tokens: { daily_limit: 3 } }],
    ["a higher own ceiling does not apply", { tokens: { daily_limit: 5 } }, { tokens: { daily_limit: 9 } }, { tokens: { daily_limit: 5 } }],
    ["null sets nothing", { tokens: { daily_limit: 5 } }, { tokens: { daily_limit: null } }, { tokens: { daily_limit: 5 } }],
    [
      "the longer cooldown applies",
      { throughput: { cooldown_seconds: 5 } },
      { throughput: { cooldown_seconds: 3 } },
      { throughput: { cooldown_seconds: 5 } },
    ],
    [
      "a hard stop cannot be turned off",
      { budget: { hard_stop: true } },
      { budget: { hard_stop: false } },
      { budget: { hard_stop: true } },
    ],
    [
      "reject cannot be relaxed to clamp",
      { temperature: { enforce: "reject" } },
      { temperature: { enforce: "clamp" } },
      { temperature: { enforce: "reject" } },
    ],
    [
      "clamp tightens to reject",
      { temperature: { enforce: "clamp" } },
      { temperature: { enforce: "reject" } },
      { temperature: { enforce: "reject" } },
    ],
    [
      "only tools in both allowed lists are allowed",
      { tool_use: { allowed_tools: ["a", "b"] } },
      { tool_use: { allowed_tools: ["b", "c"] } },
      { tool_use: { allowed_tools: ["b"] } },
    ],
    [
      "disjoint lists of allowed tools allow nothing",
      { tool_use: { allowed_tools: ["a"] } },
      { tool_use: { allowed_tools: ["b"] } },
      { tool_use: { allowed_tools: [] } },
    ],
    [
      "an empty whitelist constrains nothing",
      { image: { dim_whitelist: ["1x1"] } },
      { image: { dim_whitelist: [] } },
      { image: { dim_whitelist: ["1x1"] } },
    ],
    [
      "tools blocked in either list are blocked",
      { tool_use: { blocked_tools: ["a"] } },
      { tool_use: { blocked_tools: ["b"] } },
      { tool_use: { blocked_tools: ["a", "b"] } },
    ],
    ["the higher minimum speed applies", { tts: { speed_min: 0.5 } }, { tts: { speed_min: 0.25 } }, { tts: { speed_min: 0.5 } }],
    [
      "a requirement cannot be turned off",
      { video: { require_image_input: true } },
      { video: { require_image_input: false } },
      { video: { require_image_input: true } },
    ],
    [
      "a warning threshold of the group replaces the parent's",
      { tokens: { daily_warning_percent: 50 } },
      { tokens: { daily_warning_percent: 80 } },
      { tokens: { daily_warning_percent: 80 } },
    ],
  ])("%s", (_name, above, own, both) => expect(effective(above, own)).toEqual(both));

  test("every field that loosens the parent's limits is named", () => {
    const above = {
      budget: { hard_stop: true, daily_limit_usd: 1 },
      throughput: { cooldown_seconds: 5 },
      temperature: { max: 1, enforce: "reject" },
      tool_use: { mode: "approval_required", allowed_tools: ["a"], blocked_tools: ["x"] },
      tts: { speed_min: 1, voice_whitelist: ["v"], max_n: 2, require_image_input: true },
    };
    const own = {
      budget: { hard_stop: false, daily_limit_usd: 2 },
      throughput: { cooldown_seconds: 4 },
      temperature: { max: 2, enforce: "clamp" },
      tool_use: { mode: "allow", allowed_tools: ["a", "b"], blocked_tools: ["y"] },
      tts: { speed_min: 0.5, voice_whitelist: ["v", "w"], max_n: 3, require_image_input: false },
    };
    expect(looser(above, own).sort()).toEqual([
      "budget.daily_limit_usd",
      "budget.hard_stop",
      "temperature.enforce",
      "temperature.max",
      "throughput.cooldown_seconds",
      "tool_use.allowed_tools",
      "tool_use.mode",
      "tts.max_n",
      "tts.require_image_input",
      "tts.speed_min",
      "tts.voice_whitelist",
    ]);
    expect(looser(above, above)).toEqual([]);
    expect(looser({}, own)).toEqual([]);
  });

  test("members named __proto__ or constructor are ordinary members", () => {
    expect(documentOf(fieldsOf(JSON.parse('{"constructor":{"max_n":1},"__proto__":{"max_n":2}}')))).toEqual(
      JSON.parse('{"constructor":{"max_n":1},"__proto__":{"max_n":2}}'),
    );
  });
});

/** A tenant as the reference model sees it: each group's parent and own values, nothing derived. */
interface World {
  readonly parents: (number | null)[];
  readonly own: {
    limit: number | null;
    rate: number | null;
    cooldown: number | null;
    hard: boolean | null;
    tools: string[] | null;
    model: number | null;
  }[];
}

const world: fc.Arbitrary<World> = fc
  .integer({ min: 1, max: 12 })
  .chain((size) =>
    fc.record({
      parents: fc.tuple(
        ...Array.from({ length: size }, (_, i) => (i === 0 ? fc.constant(null) : fc.option(fc.nat(i - 1), { freq: 8 }))),
      ) as fc.Arbitrary<(number | null)[]>,
      own: fc.array(
        fc.record({
          limit: fc.option(fc.nat(20)),
          rate: fc.option(fc.nat(9)),
          cooldown: fc.option(fc.nat(9)),
          hard: fc.option(fc.boolean()),
          tools: fc.option(fc.subarray(["a", "b", "c"])),
          model: fc.option(fc.nat(20)),
        }),
        { minLength: size, maxLength: size },
      ),
    }),
  );

const name = (i: number) => `g${i}`;

function treeOf({ parents, own }: World): PolicyTree {
  const groups: GroupNode[] = parents.map((parent, i) => ({ id: name(i), name: name(i), parentId: parent === null ? null : name(parent) }));
  const policies: StoredPolicy[] = own.flatMap(({ limit, rate, cooldown, hard, tools, model }, i) => [
    {
      groupId: name(i),
      kind: "llm_limits",
      itemId: "",
      document: {
        requests: { daily_limit: limit },
        throughput: { max_requests_per_minute: rate, cooldown_seconds: cooldown },
        budget: { hard_stop: hard },
      },
    },
    { groupId: name(i), kind: "llm_governance", itemId: "", document: { tool_use: { allowed_tools: tools } } },
    { groupId: name(i), kind: "llm_limits", itemId: "m", document: { requests: { daily_limit: model } } },
  ]);
  return new PolicyTree(groups, policies);
}

/** The group and its ancestors. */
function line({ parents }: World, i: number): number[] {
  const parent = parents[i] ?? null;
  return parent === null ? [i] : [i, ...line({ parents, own: [] }, parent)];
}

/** The groups that draw on `holder`: those that set the limit with no other group in between that does. */
function drawersOf(w: World, holder: number): number[] {
  return w.own.flatMap((own, i) => {
    if (i === holder || own.limit === null) return [];
    const nearest = line(w, i)
      .slice(1)
      .find((j) => w.own[j]?.limit != null);
    return nearest === holder ? [i] : [];
  });
}

const RUNS = 10_000;

describe(`the policy tree equals a simple reference model over ${RUNS.toLocaleString("en")} random tenants`, () => {
  test("in its effective values", () => {
    fc.assert(
      fc.property(world, (w) => {
        const tree = treeOf(w);
        for (let i = 0; i < w.own.length; i++) {
          const above = line(w, i).map((j) => w.own[j] as World["own"][number]);
          const present = <T>(values: (T | null)[]) => values.filter((value): value is T => value !== null);
          const least = (values: number[]) => (values.length === 0 ? undefined : Math.min(...values));
          const limits = tree.effective(name(i), "llm_limits");
          expect(limits.get("requests.daily_limit")).toBe(least(present(above.map(({ limit }) => limit))));
          expect(limits.get("throughput.max_requests_per_minute")).toBe(least(present(above.map(({ rate }) => rate))));
          const cooldowns = present(above.map(({ cooldown }) => cooldown));
          expect(limits.get("throughput.cooldown_seconds")).toBe(cooldowns.length === 0 ? undefined : Math.max(...cooldowns));
          const hard = present(above.map(({ hard: stop }) => stop));
          expect(limits.get("budget.hard_stop")).toBe(hard.length === 0 ? undefined : hard.includes(true));
          const lists = present(above.map(({ tools }) => tools)).filter((tools) => tools.length > 0);
          const tools = tree.effective(name(i), "llm_governance").get("tool_use.allowed_tools") as string[] | undefined;
          expect(tools?.toSorted()).toEqual(
            lists.length === 0 ? undefined : ["a", "b", "c"].filter((tool) => lists.every((list) => list.includes(tool))),
          );
          expect(tree.effective(name(i), "llm_limits", "m").get("requests.daily_limit")).toBe(
            least(present(above.flatMap(({ limit, model }) => [limit, model]))),
          );
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("in the changes of a limit that are refused, and in the available quota", () => {
    fc.assert(
      fc.property(world, fc.nat(), fc.option(fc.nat(20)), (before, at, value) => {
        const i = at % before.own.length;
        const after: World = { ...before, own: before.own.map((own, j) => (j === i ? { ...own, limit: value } : own)) };
        const [old, next] = [treeOf(before), treeOf(after)];
        const inherited = line(before, i)
          .slice(1)
          .flatMap((j) => before.own[j]?.limit ?? []);
        const loose = value !== null && inherited.some((limit) => value > limit);
        expect(
          loosenedFields(old.inherited(name(i), "llm_limits"), value === null ? NOTHING : fieldsOf({ requests: { daily_limit: value } }))
            .length > 0,
        ).toBe(loose);

        const holder = line(after, i)
          .slice(1)
          .find((j) => after.own[j]?.limit != null);
        const sum = (w: World) => (holder === undefined ? 0 : drawersOf(w, holder).reduce((total, j) => total + (w.own[j]?.limit ?? 0), 0));
        const limit =
          holder === undefined ? Number.POSITIVE_INFINITY : Math.min(...line(after, holder).flatMap((j) => after.own[j]?.limit ?? []));
        expect(overcommittedQuotas(old, next, name(i)).length > 0).toBe(sum(after) > limit && sum(after) > sum(before));

        const available = (quotaCapacityOf(next, name(i)).available as { requests?: { daily_limit: number | null } }).requests?.daily_limit;
        const branch = new Set(after.own.flatMap((_, j) => (line(after, j).includes(i) ? [j] : [])));
        const others =
          holder === undefined
            ? 0
            : drawersOf(after, holder)
                .filter((j) => !branch.has(j))
                .reduce((total, j) => total + (after.own[j]?.limit ?? 0), 0);
        expect(available).toBe(holder === undefined ? null : Math.max(0, limit - others));
      }),
      { numRuns: RUNS },
    );
  });
});

test("effective limits of 1,000 groups in eight levels take less than half a second of processor time", () => {
  const groups: GroupNode[] = Array.from({ length: 1_000 }, (_, i) => ({
    id: name(i),
    name: name(i),
    parentId: i < 125 ? null : name(i - 125),
  }));
  const policies: StoredPolicy[] = groups.map(({ id }, i) => ({
    groupId: id,
    kind: "llm_limits",
    itemId: "",
    document: { requests: { daily_limit: 2_000 - i }, budget: { hard_stop: true } },
  }));
  const began = cpuMs();
  const tree = new PolicyTree(groups, policies);
  for (const { id } of groups) tree.effective(id, "llm_limits");
  expect(tree.effective(name(999), "llm_limits").get("requests.daily_limit")).toBe(1_001);
  expect(cpuMs(began)).toBeLessThan(500);
});
