import { afterAll, beforeAll, expect, test } from "bun:test";
import { type BillingVendors, startBillingVendors } from "../support/vendors/usage-vendors.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;
let vendors: BillingVendors;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  vendors = startBillingVendors();
});
afterAll(async () => {
  await world?.end();
  await vendors?.stop();
});

withBrowser("a vendor account's key is stored, its usage imported and reconciled, and an unknown key ignored", async () => {
  const day = (back: number) => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  const hostile = "key_<img src=x>_9999";
  for (let back = 5; back > 1; back--)
    vendors.uses.push({
      day: day(back),
      model: "fake-1",
      key: hostile,
      project: "proj_1",
      input: 10,
      cached: 0,
      output: 1,
      requests: 1,
      nano: 1_250_000_000n,
    });
  const { id } = await world.admin.post("/v1/admin/providers", {
    provider_key: "billed",
    api_format: "openai",
    base_url: "https://calls.example/v1",
  });
  await world.admin.request("PATCH", `/v1/admin/usage-import/providers/${id}`, { import_endpoint_override: vendors.origin });

  const { page, context, problems } = await world.consolePage({ at: "/usage-import" });
  await page.getByLabel("Provider", { exact: true }).selectOption("billed");
  const schedule = page.getByLabel("Schedule (cron, UTC)");
  const given = await schedule.inputValue();
  await schedule.fill("now and then");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator("[aria-invalid=true]").waitFor();
  expect(await schedule.getAttribute("aria-invalid")).toBe("true");
  await schedule.fill(given);
  // Someone else changes another setting meanwhile.
  await world.admin.request("PATCH", `/v1/admin/usage-import/providers/${id}`, { import_account: "of somebody else" });
  await page.getByLabel("Key of the account").fill("sk-admin-right");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByLabel("Key of the account (…ight is stored)").waitFor();
  expect((await world.admin.get(`/v1/admin/usage-import/providers/${id}`)).import_account).toBe("of somebody else");
  await page.getByLabel("Account (table or scope)").fill("");
  const saved = page.waitForResponse((response) => response.request().method() === "PATCH" && response.ok());
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await saved;
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText(/The vendor answered with \d+ figures/).waitFor();
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("table", { name: "Runs" }).getByText("succeeded", { exact: true }).waitFor();

  await page.reload();
  await page.getByLabel("Provider", { exact: true }).selectOption("billed");
  await page.getByText("$5.00").first().waitFor();
  await page
    .getByRole("table", { name: "Reconciliation" })
    .getByText(/direct use/)
    .first()
    .waitFor();
  const unmatched = page.getByRole("table", { name: "Unmatched names" });
  await unmatched.getByText(`name of ${hostile}`).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  await unmatched.getByRole("row", { name: hostile }).getByRole("button", { name: "Set aside" }).click();
  await unmatched.getByText(`name of ${hostile}`).waitFor({ state: "detached" });
  const { mappings } = await world.admin.get(`/v1/admin/usage-import/providers/${id}/mappings?state=ignored`);
  expect(mappings).toMatchObject([{ kind: "key", vendor_id: hostile, ignored: true }]);
  expect(problems).toEqual([]);
  await context.close();
});
