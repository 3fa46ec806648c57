import { afterAll, beforeAll, expect, test } from "bun:test";
import { uploadTo } from "../support/worlds/knowledge.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld({});
});
afterAll(() => world?.end());

withBrowser("an administrator creates a knowledge base, uploads documents, and sees their state and why a passage is found", async () => {
  const { page, context, problems } = await world.consolePage({ at: "/manage/knowledge-bases/new" });
  await page.getByLabel("Name", { exact: true }).fill("handbook");
  await page.getByRole("button", { name: "Create knowledge base", exact: true }).click();
  await page.getByRole("heading", { name: "handbook", level: 1 }).waitFor();

  const upload = async (name: string, text: string) => {
    await page
      .getByLabel("Document", { exact: true })
      .setInputFiles({ name, mimeType: "application/octet-stream", buffer: Buffer.from(text) });
    await page.getByRole("button", { name: "Upload", exact: true }).click();
  };
  await upload("travel.md", "# Travel\n\nA car is paid forty cents.");
  await page.getByText("ready", { exact: true }).waitFor();
  await upload("broken.pdf", "not a PDF");
  await page.getByText("It is no PDF document, or damaged.").waitFor();

  await page.getByLabel("Query", { exact: true }).fill("What is paid for a car?");
  await page.getByRole("button", { name: "Try a search", exact: true }).click();
  const answer = page.getByRole("status").filter({ hasText: "forty cents" });
  await answer.waitFor();
  expect(await answer.innerText()).toContain("Lexical rank");

  const broken = page.getByRole("listitem").filter({ hasText: "broken.pdf" });
  await broken.getByRole("button", { name: "Delete", exact: true }).click();
  const question = page.getByRole("dialog", { name: "Delete broken.pdf?" });
  await question.getByRole("button", { name: "Delete", exact: true }).click();
  await broken.waitFor({ state: "detached" });
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("the last of more than a hundred documents can be reached", async () => {
  const { id } = await world.admin.post("/v1/admin/knowledgebases", { tenant_id: "default", name: "archive" });
  // Documents are listed by name.
  const names = [...Array.from({ length: 100 }, (_, at) => `note ${String(at).padStart(3, "0")}.md`), "z broken.pdf"];
  for (let from = 0; from < names.length; from += 10)
    await Promise.all(names.slice(from, from + 10).map((name) => uploadTo(world.gateway.adminUrl, world.admin, id, name, "a note")));
  const { page, context, problems } = await world.consolePage({ at: `/manage/knowledge-bases/${id}` });
  const broken = page.getByRole("listitem").filter({ hasText: "z broken.pdf" });
  await page.getByText("note 099.md", { exact: true }).waitFor();
  expect(await broken.count()).toBe(0);
  await page.getByRole("button", { name: "More documents" }).click();
  await broken.getByText("failed", { exact: true }).waitFor();
  await broken.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await broken.waitFor({ state: "detached" });
  expect(problems).toEqual([]);
  await context.close();
});
