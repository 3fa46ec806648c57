import { afterAll, beforeAll, expect, test } from "bun:test";
import { PII_CATEGORIES } from "@gatehouse/contracts/guardrails";
import type { Page } from "playwright-core";
import { openApiDocument } from "../../server/surfaces/admin/document.ts";
import { recordRoutes } from "../../server/surfaces/admin/record-route.ts";
import { OPERATIONS } from "../../server/surfaces/admin/routes.ts";
import type { PlaneDocument } from "../../web/reference/src/document/api-document.ts";
import { schemaReader } from "../../web/reference/src/document/schema-reader.ts";
import { laidOut } from "../../web/reference/src/operation/laid-out.ts";
import { rowOf } from "../support/worlds/admin.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, signInOn, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath, watchedPage } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
let world: BrowserWorld;

beforeAll(async () => {
  if (chromiumPath() !== null) world = await startBrowserWorld();
});
afterAll(() => world?.end());

const tryIt = (page: Page) => page.locator("section", { has: page.getByRole("heading", { name: "Try it" }) });

withBrowser("a reader with a key calls a model from the API reference, sees the stream, and finds the row", async () => {
  const { page, context, problems } = await watchedPage(world.browser);
  await page.goto(`${world.gateway.runtimeUrl}/docs`);
  await page.getByRole("heading", { name: "Runtime API", level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("chat completions");
  await page.getByRole("navigation").getByRole("link", { name: "POST Chat completions", exact: true }).click();
  await page.getByRole("heading", { name: "Chat completions", level: 1 }).waitFor();
  const form = tryIt(page);
  await form.getByLabel("Body").fill('{"model":"echo","stream":true,"messages":[{"role":"user","content":"from the <b>reference</b>"}]}');
  const samples = page.getByRole("region", { name: "Code samples" });
  for (const [language, says] of [
    ["curl", "curl -N '"],
    ["Python", "requests.request("],
    ["Go", "http.NewRequest("],
    ["OpenAI SDK (Python)", "client.chat.completions.create("],
    ["JavaScript", "process.env.GATEHOUSE_KEY"],
  ] as const) {
    await samples.getByRole("tab", { name: language, exact: true }).click();
    await samples.getByRole("tabpanel").getByText(says).waitFor();
    expect(await samples.getByRole("tabpanel").innerText()).toContain("<b>reference</b>");
  }

  await form.getByRole("button", { name: "Send POST" }).click();
  await form.getByText("401 Unauthorized").waitFor();
  await form.getByLabel("API key or portal token").fill(world.apiKey);
  await form.getByRole("button", { name: "Send POST" }).click();
  await form.getByText("data: [DONE]").waitFor();
  expect(await page.locator("body").innerText()).not.toContain(world.apiKey);
  await form.getByText("Headers of the answer").click();
  const [, id = ""] = /x-request-id: (\S+)/.exec(await form.innerText()) ?? [];
  expect((await rowOf(world.admin, { id })).llm_model_used).toBe("echo");
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});

withBrowser("a reader signed in at the console or the portal needs no key in the API reference", async () => {
  const { page, context, problems } = await world.consolePage();
  await page.goto(`${world.gateway.adminUrl}/docs/#post_v1_admin_resource_groups`);
  const form = tryIt(page);
  await form.getByText("as admin, who is signed in at the console").waitFor();
  await form.getByLabel("Body").fill('{"name":"made-in-the-reference"}');
  await form.getByRole("button", { name: "Send POST" }).click();
  await form.getByText("201 Created").waitFor();
  const { resource_groups: groups } = await world.admin.get("/v1/admin/resource-groups?search=made-in-the-reference");
  expect(groups.length).toBe(1);
  // The session also works in the console.
  await page.goto(`${world.console}/`);
  await page.getByRole("heading", { level: 1 }).waitFor();

  await page.goto(`${world.portal}/chat`);
  await signInOn(page, world.person.username, world.person.password);
  await page.goto(`${world.gateway.runtimeUrl}/docs/#portal`);
  await page.getByRole("heading", { name: "Portal API", level: 1 }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "How many are unread" }).click();
  await tryIt(page).getByText(`as ${world.person.username}, who is signed in at the portal`).waitFor();
  await tryIt(page).getByRole("button", { name: "Send GET" }).click();
  await tryIt(page).getByText('"unread_count"').waitFor();
  expect(problems).toEqual([]);
  await context.close();
});

for (const [width, theme] of [
  [1440, "dark"],
  [320, "light"],
] as const)
  withBrowser(`the API reference is accessible and fits, ${width} pixels wide, ${theme}`, async () => {
    const { page, context, problems, settled } = await watchedPage(world.browser, { width, theme });
    const findings: Record<string, unknown> = {};
    for (const address of [
      `${world.gateway.adminUrl}/docs/`,
      `${world.gateway.adminUrl}/docs/#patch_v1_admin_resource_groups_id_llm_global_limits`,
      `${world.gateway.runtimeUrl}/docs/#post_v1_proxy_files`,
      `${world.gateway.runtimeUrl}/docs/#portal`,
    ]) {
      await page.goto("about:blank");
      await page.goto(address);
      await page.locator("h1").waitFor();
      await page.locator(`html[data-theme="${theme}"]`).waitFor();
      await settled();
      const found = await accessibilityFindings(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (found.length > 0 || overflow > 0) findings[address] = { found, overflow };
    }
    expect(findings).toEqual({});
    if (width === 320) {
      await page.getByRole("button", { name: "Open menu" }).click();
      await page.getByRole("navigation").getByRole("link", { name: "Runtime API" }).click();
      await page.getByRole("heading", { name: "Runtime API", level: 1 }).waitFor();
    }
    expect(problems).toEqual([]);
    await context.close();
  });

const api = openApiDocument(OPERATIONS, recordRoutes(OPERATIONS)) as PlaneDocument;
const reader = schemaReader(api.components.schemas ?? {});
const bodyOf = (method: string, path: string) => api.paths[path]?.[method]?.requestBody?.content["application/json"]?.schema;
const typesOf = (method: string, path: string): Record<string, string> =>
  Object.fromEntries(reader.membersOf(bodyOf(method, path)).map(({ name, required, type }) => [name + (required ? " *" : ""), type]));

test("schema members are listed at any depth, including those of references, lists and nullable objects", () => {
  expect(typesOf("patch", "/v1/admin/resource-groups/{id}/llm-global-limits")).toMatchObject({
    "llm_global_limits *": "object",
    "llm_global_limits.budget": "object | null",
    "llm_global_limits.budget.hard_stop": "boolean | null",
  });
  expect(typesOf("post", "/v1/admin/argument-policies")).toMatchObject({
    "name *": "string",
    "rules *": "object[]",
    "rules[].message *": "string",
    severity: '"deny" | "warn"',
  });
  expect(typesOf("post", "/v1/admin/guardrails/configs")["builtin.pii_categories"]).toBe(
    `(${PII_CATEGORIES.map((name) => `"${name}"`).join(" | ")})[]`,
  );
  expect(reader.sampleOf(bodyOf("post", "/v1/admin/argument-policies"))).toMatchObject({ name: "", rules: [{ message: "" }] });
});

test("alternatives are listed together, shared members once, and free member names as *", () => {
  const one = { type: "object", properties: { kind: { const: "one" }, at: { type: "string" } }, required: ["kind"] };
  const other = { type: "object", properties: { kind: { const: "other" }, at: { type: "string" } }, required: ["kind"] };
  expect(
    reader
      .membersOf({ type: "object", properties: { by: { type: "object", additionalProperties: { anyOf: [one, other] } } } })
      .map(({ name, type }) => [name, type]),
  ).toEqual([
    ["by", "object"],
    ["by.*.kind", '"one"'],
    ["by.*.at", "string"],
    ["by.*.kind", '"other"'],
  ]);
});

test("a recursive schema ends", () => {
  const { membersOf, typeOf, sampleOf } = schemaReader({
    Tree: {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/components/schemas/Tree" } } },
      required: ["children"],
    },
    Json: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/components/schemas/Json" } }] },
  });
  expect(membersOf({ $ref: "#/components/schemas/Tree" }).map(({ name }) => name)).toEqual(["name", "children"]);
  expect(typeOf({ $ref: "#/components/schemas/Json" })).toBe("string | any[]");
  expect(JSON.stringify(sampleOf({ $ref: "#/components/schemas/Tree" })).length).toBeLessThan(100);
});

test("a response is shown with all digits of its numbers, and non-JSON unchanged", () => {
  expect(laidOut('{"seq":9007199254740993,"items":[1,null]}')).toBe(
    '{\n  "seq": 9007199254740993,\n  "items": [\n    1,\n    null\n  ]\n}',
  );
  expect(laidOut("plain <b>text</b>")).toBe("plain <b>text</b>");
});
