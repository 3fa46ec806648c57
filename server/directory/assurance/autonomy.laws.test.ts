import { expect, test } from "bun:test";
import { AUTONOMY_LEVELS, LIFECYCLE_STATES } from "@gatehouse/contracts/ai-systems";
import { RESPONSE_ACTIONS } from "@gatehouse/contracts/ai-responses";
import fc from "fast-check";
import type { AutonomyRow } from "../../store/assurance/ai-systems.ts";
import { type Autonomy, autonomyOf, boundedTools } from "./autonomy.ts";

const names = fc.option(fc.subarray(["a", "b", "c"]));
const row = (id: string): fc.Arbitrary<AutonomyRow> =>
  fc.record({
    id: fc.constant(id),
    lifecycle_state: fc.constantFrom(...LIFECYCLE_STATES),
    autonomy_level: fc.constantFrom(...AUTONOMY_LEVELS),
    restrictions: fc.option(fc.record({ model_ids: names, mcp_server_ids: names, tools: names, agent_ids: names }, { requiredKeys: [] })),
    actions: fc.subarray([...RESPONSE_ACTIONS]),
  });
const chain = fc.tuple(row("leaf"), row("above"), row("root"));

const of = (rows: readonly AutonomyRow[], ids = rows.map(({ id }) => id)) =>
  autonomyOf(ids, new Map(rows.map((one) => [one.id, one]))) as Autonomy;

/** Whether the second allows everything that the first allows. */
function isWithin(narrow: Autonomy, wide: Autonomy): boolean {
  const inside = (list: "models" | "servers" | "tools" | "agents") => {
    const [a, b] = [narrow.bounds?.[list] ?? null, wide.bounds?.[list] ?? null];
    return b === null || (a !== null && [...a].every((one) => b.has(one)));
  };
  return (
    AUTONOMY_LEVELS.indexOf(narrow.level) >= AUTONOMY_LEVELS.indexOf(wide.level) &&
    (narrow.asksFirst || !wide.asksFirst) &&
    (["models", "servers", "tools", "agents"] as const).every(inside)
  );
}

test("no response action on any AI System of a hierarchy allows anything that was not allowed before", () => {
  fc.assert(
    fc.property(chain, fc.nat(2), fc.constantFrom(...RESPONSE_ACTIONS), (rows, which, action) => {
      const answered = rows.map((one, i) => (i === which ? { ...one, actions: [...one.actions, action] } : one));
      expect(isWithin(of(answered), of(rows))).toBe(true);
    }),
    { numRuns: 10_000 },
  );
});

test("autonomy does not depend on the order of response actions or of the AI Systems of a hierarchy", () => {
  fc.assert(
    fc.property(chain, fc.shuffledSubarray([...RESPONSE_ACTIONS], { minLength: 2, maxLength: 2 }), (rows, actions) => {
      const fired = (order: typeof actions) => of(rows.map((one, i) => (i === 0 ? { ...one, actions: order } : one)));
      expect(fired(actions)).toEqual(fired(actions.toReversed()));
      const [forward, back] = [of(rows), of(rows, ["root", "above", "leaf"])];
      expect([isWithin(forward, back), isWithin(back, forward)]).toEqual([true, true]);
    }),
  );
});

test("the autonomy of a parent applies to its children, and bounds only remove tools", () => {
  const access = {
    configId: "c",
    disabled: new Set<string>(),
    approvalRequired: new Set<string>(),
    approvalTimeoutSeconds: 1,
    approvers: [],
  };
  const tools = new Map(["a", "b", "c"].map((id) => [id, { ...access, enabled: null }]));
  fc.assert(
    fc.property(chain, (rows) => {
      const all = of(rows);
      for (const one of rows) expect(isWithin(all, of([one]))).toBe(true);
      if (all.bounds !== null) expect([...boundedTools(tools, all.bounds).keys()].every((id) => tools.has(id))).toBe(true);
      if (all.level === "restricted") expect(all.bounds).not.toBeNull();
    }),
  );
});
