import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeSkillZip } from "../../server/directory/skills/write-skill-zip.ts";
import { ADMIN_PASSWORD } from "../support/gateway.ts";
import { signIn } from "../support/worlds/admin.ts";
import { uploadTo } from "../support/worlds/knowledge.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
const tenant = { tenant_id: "default" };
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld();
  await world.admin.post("/v1/admin/admin-users", { ...tenant, username: "looks-on", password: ADMIN_PASSWORD, role: "viewer" });
});
afterAll(() => world?.end());

async function importedSkill(): Promise<string> {
  const text = "---\nname: packer\ndescription: Packs things.\n---\nRun scripts/pack.sh.\n";
  const files = { "SKILL.md": text, "scripts/pack.sh": "echo packed\n" };
  const zip = await writeSkillZip(
    Object.entries(files).map(([path, content]) => ({ path, content: new TextEncoder().encode(content), executable: false })),
    null,
  );
  const form = new FormData();
  form.set("file", new File([zip as BlobPart], "skill.zip"));
  const answer = await fetch(`${world.gateway.adminUrl}/v1/admin/agent-skills/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.admin.token}` },
    body: form,
  });
  return ((await answer.json()) as any).skill.id;
}

withBrowser("a viewer is offered no action that would be refused", async () => {
  const { admin } = world;
  const skill = await importedSkill();
  const group = (await admin.post("/v1/admin/resource-groups", { ...tenant, name: "helpdesk" })).id;
  await admin.post(`/v1/admin/resource-groups/${group}/agent-skills`, { skill_ids: [skill] });
  await admin.post("/v1/admin/ai-systems", { ...tenant, group_id: group });
  await admin.post(`/v1/admin/ai-systems/${group}/contracts`, {});
  const base = (await admin.post("/v1/admin/knowledgebases", { ...tenant, name: "handbook" })).id;
  await uploadTo(world.gateway.adminUrl, admin, base, "travel.md", "A car is paid forty cents.");

  const by = await signIn(world.gateway.adminUrl, { ...tenant, username: "looks-on", password: ADMIN_PASSWORD }, "tenant");
  const { page, context, problems } = await world.consolePage({ by });
  const main = page.locator("main");
  await page.getByRole("link", { name: "Resource groups" }).first().waitFor();
  expect(await page.getByRole("link", { name: "Tenants" }).count()).toBe(0);
  /** The buttons on a record's page, except those of the code samples, once the texts `told` show that its panels have loaded. */
  const offered = async (path: string, ...told: readonly string[]) => {
    await page.goto(`${world.console}/manage/${path}`);
    for (const text of told) await main.getByText(text, { exact: true }).first().waitFor();
    const names = await main
      .locator("button, summary")
      .evaluateAll((all) => all.map(({ textContent, ariaLabel }) => textContent || ariaLabel));
    return names.slice(0, names.indexOf("Use from code"));
  };
  expect(await offered(`resource-groups/${group}`, "packer", "Limits and budgets of models")).toEqual(["Overrides"]);
  const system = ["Version 1", "To assessed", "No suite yet. A suite is a sample of recent calls."];
  expect(await offered(`ai-systems/${group}`, ...system)).toEqual(["Print as a report", "Hide", "Download"]);
  expect(await offered(`skills/${skill}`, "Version 1", "helpdesk")).toEqual(["Files of version 1", "Download"]);
  expect(await offered(`knowledge-bases/${base}`, "travel.md")).toEqual([]);
  expect((await admin.get("/v1/admin/admin-log?action=refused")).entries).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});
