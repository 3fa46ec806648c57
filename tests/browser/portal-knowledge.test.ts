import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { settledDocument, uploadTo } from "../support/worlds/knowledge.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
const HOSTILE = "The zeppelin lands at noon. <img src=x onerror=\"document.title='owned'\"> [see](javascript:document.title='owned')";
let world: BrowserWorld;
let base = "";
let documentId = "";
let groupId = "";

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
  const { admin } = world;
  groupId = ((await admin.get("/v1/admin/resource-groups")) as any).resource_groups[0].id;
  const made = { tenant_id: "default", name: "<b>Handbook</b>", description: "What holds here.", group_ids: [groupId] };
  base = (await admin.post("/v1/admin/knowledgebases", made)).id;
  const { body } = await uploadTo(world.gateway.adminUrl, admin, base, "airfield.md", `# Airfield\n\n## Hours\n\n${HOSTILE}`);
  documentId = (await settledDocument(admin, base, body.id)).id;
});
afterAll(() => world?.end());

withBrowser("an exportable skill is downloaded as the gateway exports it, and a refusal is shown next to it", async () => {
  const { admin } = world;
  const content = "---\nname: packer\ndescription: Packs things.\n---\nPack it.\n";
  const { skill } = await admin.post("/v1/admin/agent-skills/import", { files: [{ path: "SKILL.md", content }] });
  const address = `/v1/admin/agent-skills/${skill.id}`;
  await admin.post(`${address}/versions/1/publish`, undefined);
  await admin.request("PATCH", address, { allow_local_export: true });
  await admin.post(`/v1/admin/resource-groups/${groupId}/agent-skills`, { skill_ids: [skill.id] });
  const exported = await fetch(`${world.gateway.adminUrl}${address}/versions/1/export`, {
    headers: { authorization: `Bearer ${admin.token}` },
  });
  const { page, context, problems } = await world.portalPage({ at: "/knowledge", width: 320, height: 720, theme: "dark" });
  const button = page.getByRole("button", { name: "Download packer" });
  const download = page.waitForEvent("download");
  await button.click();
  expect((await download).suggestedFilename()).toBe("packer-1.zip");
  const saved = await new Response((await (await download).createReadStream()) as unknown as ReadableStream).bytes();
  expect(saved).toEqual(await exported.bytes());
  expect(await accessibilityFindings(page)).toEqual([]);
  await admin.request("PATCH", address, { allow_local_export: false });
  await button.click();
  await page.getByRole("alert").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

async function say(page: Page, text: string): Promise<void> {
  const before = await page.getByRole("button", { name: "Another answer" }).count();
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "Another answer" }).nth(before).waitFor();
}

withBrowser("an answer uses the chosen knowledge base, and its citation numbers open the passage and its source", async () => {
  const { page, context, problems } = await world.portalPage({ width: 320, height: 720 });
  await page.getByRole("button", { name: "Knowledge bases", exact: true }).click();
  await page.getByRole("checkbox", { name: "<b>Handbook</b>" }).check();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "1 knowledge base" }).waitFor();

  // The model `echo` repeats the prompt. The second number has no source, and the target of the third must be ignored.
  await say(page, "When does the zeppelin land? So it is [1], not [7], and [1][1] `[1]`.\n\n[1]: https://evil.example/");
  const answer = page.getByRole("article", { name: "AI-generated" }).last();
  await answer.getByText("[7]").waitFor();
  expect(await answer.locator("code", { hasText: "[1]" }).count()).toBe(1);
  expect(await answer.locator('a[href^="https://evil.example"]').count()).toBe(0);
  const citation = answer.locator("button", { hasText: /^1$/ });
  expect(await citation.count()).toBeGreaterThanOrEqual(3);
  await citation.first().click();
  const dialog = page.getByRole("dialog", { name: "Source 1" });
  await dialog.getByText("airfield.md").waitFor();
  expect(await dialog.locator("blockquote").textContent()).toBe(HOSTILE);
  expect(await dialog.locator("blockquote *").count()).toBe(0);
  await dialog.getByText("Airfield > Hours").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await page.evaluate(() => [document.title.includes("owned"), document.documentElement.scrollWidth <= innerWidth])).toEqual([
    false,
    true,
  ]);
  await page.keyboard.press("Escape");

  // Citations stay with the conversation; a source that was deleted since is marked as such.
  await page.reload();
  expect((await world.admin.request("DELETE", `/v1/admin/knowledgebases/${base}/documents/${documentId}`)).status).toBe(204);
  await page.getByRole("button", { name: "Open source 1" }).last().click();
  await page.getByText("This passage no longer exists, or you no longer have access to it.").waitFor();
  expect(problems).toEqual([]);
  await context.close();
});
