import { afterAll, beforeAll, expect, test } from "bun:test";
import { LONG_TEST_MS } from "../support/patience.ts";
import { startWorld, type World } from "../support/world.ts";
import { EXPECTED_FAILURES } from "./expected-failures.ts";
import { measureServer, SERVER_PAIRS, type ServerMeasure } from "./measure.ts";
import { HEAD, published, serverSection } from "./page.ts";
import type { Revision } from "./suite.ts";
import { type Governed, governedFixtures, type ServerDialect } from "./through-gateway.ts";

let world: World;
let governed: Governed;
const measures = new Map<string, Promise<ServerMeasure>>();

beforeAll(async () => {
  world = await startWorld();
  governed = await governedFixtures(world);
});
afterAll(async () => {
  await governed.stop();
  await world.end();
});

/** Each pair is measured once, whichever tests run. */
function measured(revision: Revision, dialect: ServerDialect): Promise<ServerMeasure> {
  const key = `${revision} ${dialect}`;
  const measure = measures.get(key) ?? measureServer(governed, revision, dialect);
  measures.set(key, measure);
  return measure;
}

test.each(SERVER_PAIRS)(
  "the scenarios of MCP %s pass for a %s server through the gateway",
  async (revision, dialect) => {
    const { through } = await measured(revision, dialect);
    const failed = through.filter(({ passed }) => !passed).map(({ scenario, failures }) => ({ scenario, failures }));
    const expected = EXPECTED_FAILURES[`${revision} ${dialect}`] ?? [];
    expect(failed.filter(({ scenario }) => !expected.includes(scenario))).toEqual([]);
    expect(failed.map(({ scenario }) => scenario)).toEqual([...expected]);
    expect(through).toHaveLength(revision === "2025-11-25" ? 30 : 37);
  },
  LONG_TEST_MS,
);

test(
  "docs/reference/mcp-conformance.md has the measured server results (npm run conformance updates it)",
  async () => {
    const all: ServerMeasure[] = [];
    for (const [revision, dialect] of SERVER_PAIRS) all.push(await measured(revision, dialect));
    expect(published()).toStartWith(HEAD);
    expect(published()).toContain(serverSection(all));
  },
  LONG_TEST_MS,
);
