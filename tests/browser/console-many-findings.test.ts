import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { rowOf } from "../support/worlds/admin.ts";
import { until } from "../support/until.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
/** More findings than one acknowledgement takes. */
const SPANS = 1_150;
const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

/** Imports a trace of one call with a row for each span. */
async function upload(): Promise<string> {
  const spans = Array.from({ length: SPANS }, (_, span) => ({
    traceId: TRACE,
    spanId: (span + 1).toString(16).padStart(16, "0"),
    name: "work",
    startTimeUnixNano: "1763712000000000000",
    endTimeUnixNano: "1763712001500000000",
  }));
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/ingest/otel/v1/traces`, {
    method: "POST",
    headers: { "x-api-key": world.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
  expect(answer.status).toBe(200);
  return String(answer.headers.get("x-request-id"));
}

withBrowser("more findings than one response lists are acknowledged in several rounds", async () => {
  const { chain_id: chain } = await rowOf(world.admin, { id: await upload() });
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  const stored = async () => (await database.query("SELECT 1 FROM audit_rows WHERE trace_id = $1", [TRACE])).rowCount;
  await until(async () => ((await stored()) ?? 0) >= SPANS);
  await database.query("UPDATE audit_rows SET http_status_code = coalesce(http_status_code, 0) + 1 WHERE trace_id = $1", [TRACE]);

  const { page, context, problems } = await world.consolePage({ at: "/chains" });
  const panel = page.locator("section", { has: page.getByRole("heading", { name: String(chain) }) });
  await panel.getByRole("button", { name: "Verify chain" }).click();
  await panel.getByText(/^1,1\d\d findings, 1,1\d\d not acknowledged/).waitFor();
  await panel.getByLabel("Reason").fill("Restored from a backup.");
  await panel.getByRole("button", { name: "Acknowledge these 1,000" }).click();
  await panel.getByText(/^1,1\d\d findings, 1\d\d not acknowledged/).waitFor();
  await panel.getByRole("button", { name: /^Acknowledge these 1\d\d$/ }).click();
  await panel.getByText(/^1,1\d\d findings, 0 not acknowledged/).waitFor();
  const verified = await world.admin.post(`/v1/admin/audit/chains/${String(chain)}/verify`, {});
  expect([verified.verdict, verified.findings_total >= SPANS, verified.unacknowledged]).toEqual(["altered", true, 0]);
  const { rows } = await database.query(
    `SELECT cardinality(findings) = (SELECT count(*) FROM chain_acknowledgements a WHERE a.chain_id = n.chain_id) AS whole FROM chain_fault_findings n`,
  );
  expect(rows).toEqual([{ whole: true }]);
  expect(problems).toEqual([]);
  await context.close();
  await database.end();
});
