import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeSkillZip } from "../../server/directory/skills/write-skill-zip.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld({});
});
afterAll(() => world?.end());

const zipOf = async (files: Readonly<Record<string, string>>) => ({
  name: "skill.zip",
  mimeType: "application/zip",
  buffer: Buffer.from(
    await writeSkillZip(
      Object.entries(files).map(([path, text]) => ({ path, content: new TextEncoder().encode(text), executable: false })),
      null,
    ),
  ),
});
const DOCUMENT = "---\nname: packer\ndescription: Packs things.\n---\nRun scripts/pack.sh.\n";

withBrowser("an administrator imports a skill, publishes a version, sees the differences and grants it to a group", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/skills" });
  await page.getByText("No skill yet").waitFor();
  const chosen = page.getByLabel("ZIP of a skill");
  await chosen.setInputFiles(await zipOf({ "notes.md": "no skill" }));
  await page.getByText("must hold exactly one SKILL.md").first().waitFor();
  await chosen.setInputFiles(await zipOf({ "SKILL.md": DOCUMENT, "scripts/pack.sh": "echo packed\n", "old.md": "old\n" }));
  await page.getByRole("link", { name: "packer" }).click();
  await page.getByRole("heading", { name: "packer", level: 1 }).waitFor();
  await page.getByRole("button", { name: "Publish version 1" }).click();
  await page.getByText("served", { exact: true }).waitFor();
  await page
    .getByLabel("ZIP of a skill")
    .setInputFiles(await zipOf({ "SKILL.md": DOCUMENT, "scripts/pack.sh": "echo repacked\n", "new.md": "new\n" }));
  await page.getByRole("button", { name: "Files of version 2" }).click();
  const files = page.locator("section").filter({ has: page.getByRole("heading", { name: "Files of version 2, compared with version 1" }) });
  for (const [path, became] of [
    ["new.md", "new"],
    ["old.md", "gone"],
    ["scripts/pack.sh", "changed"],
  ] as const)
    await files.getByRole("listitem").filter({ hasText: path }).getByText(became, { exact: true }).waitFor();
  await page.getByText("No script of it was run yet.").waitFor();
  await page.getByLabel("Arguments").fill("one 'two");
  await page.getByRole("button", { name: "Run script" }).click();
  await page.getByText("repacked", { exact: true }).waitFor();
  await page.getByText("status 0", { exact: true }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  await page.goto(`${world.console}/manage/resource-groups`);
  await page.getByRole("table").getByRole("link").first().click();
  await page.getByLabel("Skill to grant").fill("packer");
  await page.getByRole("option", { name: "packer" }).click();
  await page.getByRole("button", { name: "Grant" }).click();
  await page.getByRole("button", { name: "Remove packer" }).waitFor();
  const group = await page.getByRole("heading", { level: 1 }).innerText();
  await page.getByRole("link", { name: "packer", exact: true }).click();
  await page.locator("section", { hasText: "Who may use it" }).getByRole("link", { name: group }).waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems.filter((problem) => !/400/.test(String(problem)))).toEqual([]);
  await context.close();
});
