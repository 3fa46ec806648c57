import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { rowsOf } from "../support/worlds/admin.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

withBrowser("usage is shown by groups, keys, models and labels, and saved as a file by day", async () => {
  for (const content of ["Hello", "Who is there?"]) {
    const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json", "x-gw-labels": "team=search" },
      body: JSON.stringify({ model: "echo", messages: [{ role: "user", content }] }),
    });
    await answer.arrayBuffer();
  }
  const [row] = await rowsOf(world.admin, { llm_model_used: "echo" }, 2);

  const { page, context, problems } = await world.consolePage({ at: "/usage" });
  const groups = page.getByRole("table", { name: "Usage by resource group" });
  await groups.getByRole("link", { name: row.resource_group_name, exact: true }).waitFor();
  await page.getByLabel("Divided by").selectOption("API keys");
  const keys = page.getByRole("table", { name: "Usage by API key" });
  await keys.getByRole("link", { name: row.api_key_name, exact: true }).waitFor();
  await page.getByLabel("Divided by").selectOption("Label team");
  const teams = page.getByRole("table", { name: "Usage by the label team" });
  await teams.getByText("search", { exact: true }).waitFor();
  await page.getByLabel("Divided by").selectOption("Models");
  const models = page.getByRole("table", { name: "Usage by model" });
  await models.getByText("echo", { exact: true }).waitFor();
  expect(await models.getByRole("row").nth(1).textContent()).toContain("2");
  expect(new URL(page.url()).searchParams.get("by")).toBe("model");
  expect(await accessibilityFindings(page)).toEqual([]);

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as CSV, by the day" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toBe("usage.csv");
  const lines = (await readFile(await file.path(), "utf8")).split("\r\n");
  expect(lines[0]).toStartWith("period,model,requests,");
  expect(lines[1]).toMatch(/^\d{4}-\d\d-\d\d,echo,2,0,/);

  expect(problems).toEqual([]);
  await context.close();
});
