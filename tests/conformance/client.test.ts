import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWorld, type World } from "../support/world.ts";
import { CLIENT_SCENARIOS, type ClientMeasure, clientMeter } from "./measure.ts";
import { clientSection, published } from "./page.ts";
import type { Revision } from "./suite.ts";

let world: World;
let meter: Awaited<ReturnType<typeof clientMeter>>;
const measures = new Map<string, Promise<ClientMeasure>>();

beforeAll(async () => {
  world = await startWorld();
  meter = await clientMeter(world);
});
afterAll(() => world.end());

/** Each scenario is judged once, whichever tests are run. */
function measured(revision: Revision, scenario: string): Promise<ClientMeasure> {
  const key = `${revision} ${scenario}`;
  const measure = measures.get(key) ?? meter(revision, scenario);
  measures.set(key, measure);
  return measure;
}

test.each(CLIENT_SCENARIOS)("what %s requires of a client, of the gateway as one: %s", async (revision, scenario) => {
  expect((await measured(revision, scenario)).verdict).toEqual({ scenario, passed: true, failures: [] });
}, 60_000);

test("docs/reference/mcp-conformance.md says what was measured of the client (npm run conformance renews it)", async () => {
  const all: ClientMeasure[] = [];
  for (const [revision, scenario] of CLIENT_SCENARIOS) all.push(await measured(revision, scenario));
  expect(published()).toContain(clientSection(all));
}, 600_000);
