import { afterAll, beforeAll, expect, test } from "bun:test";
import { LONG_TEST_MS } from "../support/patience.ts";
import { type ClientGateway, clientGateway } from "./client-gateway.ts";
import { CLIENT_SCENARIOS, type ClientMeasure, measureClient } from "./measure.ts";
import { clientSection, published } from "./page.ts";
import type { Revision } from "./suite.ts";

let gateway: ClientGateway;
const measures = new Map<string, Promise<ClientMeasure>>();

beforeAll(async () => {
  gateway = await clientGateway();
});
afterAll(() => gateway.end());

/** Each scenario is measured once, whichever tests run. */
function measured(revision: Revision, scenario: string): Promise<ClientMeasure> {
  const key = `${revision} ${scenario}`;
  const measure = measures.get(key) ?? measureClient(gateway, revision, scenario);
  measures.set(key, measure);
  return measure;
}

test.each(CLIENT_SCENARIOS)("the gateway as a client of MCP %s passes the scenario %s", async (revision, scenario) => {
  expect((await measured(revision, scenario)).verdict).toEqual({ scenario, passed: true, failures: [] });
});

test(
  "docs/reference/mcp-conformance.md has the measured client results (npm run conformance updates it)",
  async () => {
    const all: ClientMeasure[] = [];
    for (const [revision, scenario] of CLIENT_SCENARIOS) all.push(await measured(revision, scenario));
    expect(published()).toContain(clientSection(all));
  },
  LONG_TEST_MS,
);
