import { expect, test } from "bun:test";
import { AUTONOMY_LEVELS } from "@gatehouse/contracts/ai-systems";
import { AUTONOMY_FLOORS } from "@gatehouse/contracts/tenants";
import { stricter } from "../../directory/assurance/autonomy.ts";
import { knowledgeAfter } from "../../directory/configuration-provenance.ts";
import { autonomy } from "./autonomy.ts";

type Decide = ReturnType<typeof autonomy>["decide"];

async function decided(level: (typeof AUTONOMY_LEVELS)[number], floor: (typeof AUTONOMY_FLOORS)[number], silentMs: number, kind = "model") {
  const row: Record<string, unknown> = {};
  const call = { row, scope: { autonomy: { level, asksFirst: false, bounds: null }, tenant: { autonomyFloor: floor } } };
  const decision = await autonomy(() => knowledgeAfter(silentMs)).decide(
    call as never as Parameters<Decide>[0],
    { target: { kind } } as never,
  );
  return { decision, row };
}

test("the row records whether the autonomy level is live, last known, or the floor", async () => {
  const provenance = async (ms: number) => (await decided("autonomous", "autonomous", ms)).row.autonomy_provenance;
  expect([await provenance(0), await provenance(5_001), await provenance(900_001)]).toEqual(["live", "last_known_good", "floor"]);
});

test("the autonomy floor applies only when the level is unknown, and only narrows it", async () => {
  for (const level of AUTONOMY_LEVELS)
    for (const floor of AUTONOMY_FLOORS)
      for (const kind of ["model", "tool", "agent"]) {
        const known = await decided(level, floor, 60_000, kind);
        const unknown = await decided(level, floor, 1_000_000, kind);
        expect(known.row.autonomy_level).toBe(level);
        expect(unknown.row.autonomy_level).toBe(stricter(level, floor));
        expect(known.decision.kind).toBe(level === "suspended" ? "refuse" : "pass");
        if (known.decision.kind === "refuse") expect(unknown.decision.kind).toBe("refuse");
        const floored = floor === "suspended" || (floor === "restricted" && kind !== "model") || level === "suspended";
        expect(unknown.decision.kind).toBe(floored ? "refuse" : "pass");
      }
});

test("a suspended system is refused files and lists too, but may still end its runs", async () => {
  const refusedOf = async (level: (typeof AUTONOMY_LEVELS)[number], proxySubtype: string, proxyType = "llm") => {
    const call = {
      row: {},
      audit: { proxyType, proxySubtype },
      scope: { autonomy: { level, asksFirst: false, bounds: null }, tenant: { autonomyFloor: "autonomous" } },
    };
    const decision = await autonomy(() => "live").decide(call as never as Parameters<Decide>[0], { target: { kind: "none" } });
    return [decision.kind, (call.row as Record<string, unknown>).autonomy_level];
  };
  for (const subtype of ["file_content", "file_upload", "models_list"]) {
    expect(await refusedOf("suspended", subtype)).toEqual(["refuse", "suspended"]);
    expect(await refusedOf("restricted", subtype)).toEqual(["pass", undefined]);
  }
  expect(await refusedOf("suspended", "batch_results", "batch")).toEqual(["refuse", "suspended"]);
  for (const [subtype, type] of [
    ["run_end"],
    ["run_inspect"],
    ["otel_traces"],
    ["approvals", "portal"],
    ["oauth_revoke", "oauth"],
  ] as const)
    expect(await refusedOf("suspended", subtype, type)).toEqual(["pass", undefined]);
});
