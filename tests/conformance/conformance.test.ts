import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWorld, type World } from "../support/world.ts";
import { EXPECTED_FAILURES } from "./expected-failures.ts";
import { judge } from "./suite.ts";
import { type Governed, governedFixtures } from "./through-gateway.ts";

let world: World;
let governed: Governed;

beforeAll(async () => {
  world = await startWorld();
  governed = await governedFixtures(world);
});
afterAll(async () => {
  await governed.stop();
  await world.end();
});

test.each([
  ["2025-11-25", "handshake"],
  ["2026-07-28", "stateless"],
  ["2025-11-25", "stateless"],
  ["2026-07-28", "handshake"],
] as const)("what %s requires, of a %s server through the gateway", async (revision, dialect) => {
  const verdicts = await judge(governed[dialect], revision);
  const failed = verdicts.filter(({ passed }) => !passed).map(({ scenario, failures }) => ({ scenario, failures }));
  const expected = EXPECTED_FAILURES[`${revision} ${dialect}`] ?? [];
  expect(failed.filter(({ scenario }) => !expected.includes(scenario))).toEqual([]);
  expect(failed.map(({ scenario }) => scenario)).toEqual([...expected]);
  expect(verdicts).toHaveLength(revision === "2025-11-25" ? 30 : 37);
}, 120_000);
