import { afterAll, beforeAll, expect, test } from "bun:test";
import { registerCollector, seenClient, seenServer } from "../support/vendors/collector.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
});
afterAll(() => world?.end());

withBrowser("a discovered tool server is registered in two clicks, another dismissed, and a collector key revoked", async () => {
  const scout = await registerCollector(world.admin, world.gateway.runtimeUrl as string, { collectorId: "laptops" });
  const hostile = '<img src=x onerror="document.title=1">';
  await scout.report(
    seenServer("d", "weather", { endpoints: ["http://127.0.0.1:9"], attributes: { client: "cursor", transport: "http" } }),
    seenServer("d", hostile),
    seenClient("d", "cursor"),
  );
  const { page, context, problems } = await world.consolePage({ at: "/discovery" });
  const table = page.getByRole("table", { name: "Found assets" });

  await table.getByText(hostile, { exact: true }).click();
  await page.getByLabel("Why it may stay as it is").fill("a toy");
  await page.getByRole("button", { name: "Dismiss", exact: true }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await table.getByText("dismissed", { exact: true }).waitFor();

  await table.getByText("weather", { exact: true }).click();
  await page.getByRole("dialog").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Onboard" }).click();
  await page.getByRole("heading", { name: "New tool server", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Create tool server" }).click();
  await page.getByRole("heading", { name: "weather", level: 1 }).waitFor();
  const { mcp_servers: servers } = await world.admin.get("/v1/admin/mcp-servers?search=weather");
  expect(servers).toMatchObject([{ name: "weather", base_url: "http://127.0.0.1:9" }]);

  await page.goto(`${world.console}/discovery`);
  await page.getByLabel("Gateway origins").fill("https://ai.company.example");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved. What was found is looked at anew").waitFor();
  expect(await world.admin.get("/v1/admin/discovery/settings")).toEqual({ gateway_origins: ["https://ai.company.example"] });
  await page.getByRole("button", { name: "Update registry" }).click();
  await page.getByText(/\d+ assets: \d+ new/).waitFor();
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByText("revoked", { exact: true }).waitFor();
  expect((await scout.report(seenClient("d", "zed"))).status).toBe(401);
  expect(problems).toEqual([]);
  await context.close();
});
