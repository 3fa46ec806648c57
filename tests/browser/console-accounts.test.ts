import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type AuthorizationServerFixture,
  type ProtectedServerFixture,
  startAuthorizationServer,
  startProtectedServer,
} from "../support/identity/authorization-server.ts";
import { ScriptedBrowser } from "../support/identity/browser.ts";
import { grant } from "../e2e/tools/mcp-harness.ts";
import { begunAt } from "../e2e/tools/oauth-harness.ts";
import { accessibilityFindings } from "./accessibility.ts";
import { type BrowserWorld, startBrowserWorld } from "./browser-world.ts";
import { chromiumPath } from "./chromium.ts";

const withBrowser = test.skipIf(chromiumPath() === null);
const tenant = { tenant_id: "default" };
let world: BrowserWorld;
let at: AuthorizationServerFixture;
let tools: ProtectedServerFixture;

beforeAll(async () => {
  if (chromiumPath() === null) return;
  world = await startBrowserWorld({ GW_ALLOW_PRIVATE_UPSTREAMS: "on" });
  tools = startProtectedServer("stateless", () => at);
  at = await startAuthorizationServer({ resources: () => [`${tools.baseUrl}/mcp`] });
});
afterAll(async () => {
  await at?.stop();
  await tools?.stop();
  await world?.end();
});

async function connectedByThePortal(serverId: string): Promise<void> {
  const { broker } = await begunAt(world.gateway.runtimeUrl, serverId, world.apiKey);
  const signedIn = await fetch(`${world.gateway.runtimeUrl}/v1/portal/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(world.person),
  });
  const { access_token: token } = (await signedIn.json()) as any;
  const began = await fetch(`${broker}/authorize?connect=`, { headers: { authorization: `Bearer ${token}`, accept: "application/json" } });
  const browser = new ScriptedBrowser("somebody at the issuer");
  browser.take(began.headers.getSetCookie(), broker);
  expect((await browser.walk(((await began.json()) as any).authorize_url)).page).toContain("is connected");
}

withBrowser("an administrator sees connected accounts at the server and at the person, and removes one", async () => {
  const { resource_groups: groups } = await world.admin.get("/v1/admin/resource-groups?tenant_id=default");
  const server = { ...tenant, name: "calendars", base_url: tools.baseUrl, auth_type: "oauth" };
  const { id } = await world.admin.post("/v1/admin/mcp-servers", server);
  await grant(world.admin, "calendars", id, [groups[0].id]);
  await connectedByThePortal(id);
  const { users } = await world.admin.get("/v1/admin/end-users?tenant_id=default");

  const { page, context, problems } = await world.consolePage({ at: `/manage/people/${users[0].id}` });
  const panel = page.locator("section", { has: page.getByRole("heading", { name: "Connected accounts" }) });
  await panel.getByText("renewed without its owner").waitFor();
  expect(await accessibilityFindings(page)).toEqual([]);

  await panel.getByRole("link", { name: "calendars" }).click();
  await panel.getByText(world.person.username, { exact: true }).waitFor();
  await panel.getByRole("button", { name: "End" }).click();
  const dialog = page.getByRole("dialog", { name: `End the account of ${world.person.username} at calendars?` });
  await dialog.getByRole("button", { name: "Disconnect" }).click();
  await panel.getByText("No account is connected.").waitFor();
  expect(at.seen.map(({ path }) => path)).toContain("/token/revocation");
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
});
