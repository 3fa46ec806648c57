import { expect, test } from "bun:test";
import type { ContractClauses } from "@gatehouse/contracts/ai-contracts";
import { AUTONOMY_LEVELS } from "@gatehouse/contracts/ai-systems";
import fc from "fast-check";
import { contractDifference } from "./contract-diff.ts";

const id = fc.constantFrom("a", "b", "c");
const names = fc.uniqueArray(fc.constantFrom("x", "y", "z"));
const configured = { name: fc.constantFrom("n", "m"), digest: fc.constantFrom("0", "1") };
const byId = <Item>(item: fc.Arbitrary<Item>) => fc.dictionary(id, item, { maxKeys: 3 });
const days = fc.integer({ min: 1, max: 4 });

/** As read from the database. */
const parsed = (made: unknown) => JSON.parse(JSON.stringify(made)) as ContractClauses;

const clauses: fc.Arbitrary<ContractClauses> = fc
  .record({
    purpose: fc.record({
      purpose: fc.constantFrom(null, "p"),
      role: fc.constantFrom(null, "provider"),
      risk_class: fc.constantFrom(null, "high"),
      data_classes: names,
      interacts_with_people: fc.constantFrom(null, true, false),
    }),
    models: byId(fc.record({ ...configured, provider: fc.constant("p"), region: fc.constantFrom(null, "eu") })),
    tool_servers: byId(
      fc.record({
        ...configured,
        enabled_tools: fc.option(names),
        disabled_tools: names,
        approval_required_tools: names,
        definitions: byId(fc.constantFrom("0", "1")),
      }),
    ),
    agents: byId(
      fc.record({
        ...configured,
        decision: fc.constantFrom("allow", "approval_required"),
        skill_ids: fc.option(names),
        max_depth: fc.option(days),
      }),
    ),
    skills: byId(fc.record({ ...configured, version: days })),
    guardrails: byId(fc.record(configured)),
    argument_policies: byId(fc.record(configured)),
    semantic_policies: byId(fc.record(configured)),
    knowledge_bases: byId(fc.record(configured)),
    routing_groups: byId(fc.record({ ...configured, members: byId(days) })),
    virtual_servers: byId(fc.record({ ...configured, members: byId(fc.constantFrom("s", "t")) })),
    semantic_caches: byId(fc.record(configured)),
    limits: fc.record(
      {
        llm_limits: fc.record({ "requests.daily_limit": days, "budget.hard_stop": fc.boolean() }, { requiredKeys: [] }),
        llm_governance: fc.record(
          { "tool_use.allowed_tools": names, "tool_use.mode": fc.constantFrom("allow", "approval_required", "deny") },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<ContractClauses["limits"]>,
    autonomy: fc.record({
      level: fc.constantFrom(...AUTONOMY_LEVELS),
      restrictions: fc.option(fc.record({ tools: fc.option(names), model_ids: fc.option(names) })),
    }),
    retention: fc.record({
      store_bodies: fc.constantFrom("none", "redacted", "full"),
      body_days: days,
      log_days: days,
      run_days: days,
      file_days: fc.option(days),
    }),
    regions: names,
    notice: fc.record({
      enabled: fc.boolean(),
      surface: fc.constantFrom("both", "banner"),
      text_digests: byId(fc.constantFrom("0", "1")),
      exempt: fc.boolean(),
    }),
  })
  .map(parsed);

const TURNED = { widened: "narrowed", narrowed: "widened", changed: "changed", unchanged: "unchanged" } as const;
const told = ({ changes }: ReturnType<typeof contractDifference>) =>
  changes.map(({ clause, path, change }) => [clause, path, change]).sort();

test("a change that widens in one direction narrows in the other", () => {
  fc.assert(
    fc.property(clauses, clauses, (a, b) => {
      const back = contractDifference(b, a).changes.map(({ clause, path, change }) => [clause, path, TURNED[change]]);
      expect(told(contractDifference(a, b))).toEqual(back.sort());
    }),
  );
});

test("identical contracts have no difference, and different contracts always have one", () => {
  fc.assert(
    fc.property(clauses, clauses, (a, b) => {
      expect(contractDifference(a, structuredClone(a))).toMatchObject({ overall: "unchanged", changes: [] });
      const { overall, changes } = contractDifference(a, b);
      expect(overall === "unchanged").toBe(changes.length === 0);
      expect(overall).not.toBe("changed");
    }),
  );
});

test("adding limits, policies or approvals narrows a contract; adding a model or tool widens it", () => {
  fc.assert(
    fc.property(clauses, (before) => {
      const tighter = structuredClone(before);
      tighter.guardrails["new"] = { name: "new", digest: "0" };
      tighter.limits["mcp_limits"] = { "frequency.max_calls_per_minute": 1 };
      for (const server of Object.values(tighter.tool_servers))
        server.approval_required_tools = [...server.approval_required_tools, "more"];
      expect(contractDifference(before, tighter).overall).toBe("narrowed");
      const wider = structuredClone(tighter);
      wider.models["new"] = { name: "new", digest: "0", provider: "p", region: null };
      expect(contractDifference(before, wider).overall).toBe("widened");
    }),
  );
});
