import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { serveModels } from "../support/worlds/admin.ts";
import { startFakeUpstream, type FakeUpstream } from "../support/vendors/fake-upstream.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let upstream: FakeUpstream;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  upstream = startFakeUpstream();
});
afterAll(async () => {
  await world?.end();
  await upstream?.stop();
});

withBrowser("batch jobs of a key are listed with failures by kind, and results are downloaded", async () => {
  const served = await serveModels(world.admin, upstream.baseUrl, ["fake-1", "bad-request"], { group: "batching" });
  const { page, context, problems } = await world.consolePage({ at: "/batch-jobs" });
  await page.getByText("No batch jobs").waitFor();
  for (const model of ["fake-1", "bad-request"]) {
    const requests = [1, 2].map((i) => ({ custom_id: `<b>${i}</b>`, body: { messages: [{ role: "user", content: "x" }] } }));
    const made = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/batch/jobs`, {
      method: "POST",
      headers: { "x-api-key": served.apiKey, "content-type": "application/json" },
      body: JSON.stringify({ model, requests, description: "<img src=x>" }),
    });
    expect(made.status).toBe(201);
  }
  await page.reload();
  await page.getByText("2 of 2 lines").nth(1).waitFor();
  await page.getByText("2 of 2 lines, 2 failed").waitFor();
  const failed = page.getByRole("listitem").filter({ hasText: "bad-request" });
  await failed.getByRole("button", { name: "Details" }).click();
  await failed.getByText("upstream_rejected").waitFor();
  await failed.getByText("Failures by kind").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  const coming = page.waitForEvent("download");
  await failed.getByRole("button", { name: "Results" }).click();
  const lines = (await readFile(await (await coming).path(), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line)).map(({ custom_id, response }) => [custom_id, response.status_code])).toEqual([
    ["<b>1</b>", 400],
    ["<b>2</b>", 400],
  ]);
  await page.getByLabel("Status").selectOption("failed");
  await page.getByText("No batch jobs").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});
