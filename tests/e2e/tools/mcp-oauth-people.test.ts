import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type AuthorizationServerFixture,
  type ProtectedServerFixture,
  startAuthorizationServer,
  startProtectedServer,
} from "../../support/identity/authorization-server.ts";
import { ScriptedBrowser } from "../../support/identity/browser.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";
import { grant, newTeam, post, stateless, type Team } from "./mcp-harness.ts";
import { begunAt, codeFor } from "./oauth-harness.ts";

let world: World;
let at: AuthorizationServerFixture;
let tools: ProtectedServerFixture;
let team: Team;
let serverId: string;
let broker: string;

interface Person {
  readonly id: string;
  readonly token: string;
  /** A key bound to the person. */
  readonly key: string;
}
const people: Record<"ada" | "eve", Person> = {} as never;

async function person(name: string): Promise<Person> {
  const { id, token } = await newPerson(world.gateway.runtimeUrl, name);
  const members = await world.admin.post("/v1/admin/end-user-groups", { name: `${name}'s`, initial_member_ids: [id] });
  await world.admin.post(`/v1/admin/end-user-groups/${members.id}/resource-groups`, { resource_group_ids: [team.groupId] });
  const key = await world.admin.post(`/v1/admin/resource-groups/${team.groupId}/api-keys`, {
    name: `${name} key`,
    scope: "user",
    end_user_id: id,
  });
  return { id, token: token as string, key: key.key_value };
}

beforeAll(async () => {
  world = await startWorld();
  tools = startProtectedServer("stateless", () => at);
  at = await startAuthorizationServer({ resources: () => [`${tools.baseUrl}/mcp`] });
  team = await newTeam(world.admin, "people");
  serverId = (
    await world.admin.post("/v1/admin/mcp-servers", { tenant_id: "default", name: "people's", base_url: tools.baseUrl, auth_type: "oauth" })
  ).id;
  await grant(world.admin, "people's", serverId, [team.groupId]);
  broker = (await begunAt(world.gateway.runtimeUrl, serverId, team.apiKey)).broker;
  for (const name of ["ada", "eve"] as const) people[name] = await person(name);
});
afterAll(async () => {
  await at.stop();
  await tools.stop();
  await world.end();
});

const call = (headers: Record<string, string>) =>
  post(
    `${world.gateway.runtimeUrl}/v1/proxy/mcp/${serverId}`,
    "",
    stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } }),
    { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo", ...headers },
  );
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("a person signed in to the portal", () => {
  test("connects in the portal and is then connected with every credential of theirs, and nobody else is", async () => {
    expect((await call(bearer(people.ada.token))).status).toBe(401);
    const began = await fetch(`${broker}/authorize?connect=`, { headers: { ...bearer(people.ada.token), accept: "application/json" } });
    expect(began.status).toBe(200);
    const { authorize_url: address } = (await began.json()) as any;
    const browser = new ScriptedBrowser("ada at the issuer");
    // The browser gets the page's answer, including its cookie.
    browser.take(began.headers.getSetCookie(), broker);
    const { page } = await browser.walk(address);
    expect(page).toContain("is connected");
    const ways: Record<string, string>[] = [
      bearer(people.ada.token),
      { "x-gateway-authorization": `Bearer ${people.ada.token}` },
      { "x-api-key": people.ada.key },
    ];
    for (const headers of ways) {
      expect((await call(headers)).status).toBe(200);
      expect(tools.callers.at(-1)?.account).toBe("ada at the issuer");
    }
    for (const headers of [bearer(people.eve.token), { "x-api-key": people.eve.key }, { "x-api-key": team.apiKey }])
      expect((await call(headers)).status).toBe(401);
    expect(tools.refused).toEqual([]);
  });

  test("lists their own connected accounts only", async () => {
    const list = async (token: string) => (await (await fetch(`${broker}/tokens`, { headers: bearer(token) })).json()) as any;
    expect([(await list(people.ada.token)).total, (await list(people.eve.token)).total]).toEqual([1, 0]);
  });

  test("authorizes a client whose token ends when the person is deactivated", async () => {
    const client = await begunAt(world.gateway.runtimeUrl, serverId, team.apiKey);
    const { body } = await client.redeem(await codeFor(client, "eve at the issuer"), {}, bearer(people.eve.token));
    expect((await call(bearer(body.access_token))).status).toBe(200);
    expect(tools.callers.at(-1)?.account).toBe("eve at the issuer");
    await world.admin.request("PATCH", `/v1/admin/end-users/${people.eve.id}/status`, { is_active: false });
    expect((await call(bearer(body.access_token))).status).toBe(403);
  });
});

test("a person's connect link is refused with another person's key and with a shared key", async () => {
  const fresh = await person("grace");
  const refused = await call({ "x-api-key": fresh.key });
  const link = refused.body.error.data.connect_url as string;
  for (const key of [people.ada.key, team.apiKey])
    expect((await new ScriptedBrowser("x", key).walk(link)).page).toContain("not the API key");
  expect((await new ScriptedBrowser("grace at the issuer", fresh.key).walk(link)).page).toContain("is connected");
  expect((await call(bearer(fresh.token))).status).toBe(200);
});

test("a portal token is never sent to a tool server", async () => {
  expect((await call({ "x-api-key": team.apiKey, ...bearer(people.ada.token) })).status).toBe(401);
  expect(tools.refused).toEqual([]);
  expect((await fetch(`${broker}/authorize?connect=`)).status).toBe(401);
});

describe("an administrator", () => {
  const accounts = async (path: string) => (await world.admin.get(`${path}/connected-accounts`)).connected_accounts as any[];

  test("sees who connected which account, and no token", async () => {
    const ofServer = await accounts(`/v1/admin/mcp-servers/${serverId}`);
    const [own, ...more] = await accounts(`/v1/admin/end-users/${people.ada.id}`);
    expect(more).toEqual([]);
    expect(own).toMatchObject({
      mcp_server_id: serverId,
      mcp_server_name: "people's",
      principal_type: "user",
      principal_id: people.ada.id,
      principal_name: "ada",
      issuer: at.issuer,
      has_refresh_token: true,
    });
    expect(ofServer).toContainEqual(own);
    for (const { token } of tools.callers) expect(JSON.stringify(ofServer)).not.toContain(token);
    expect((await world.admin.request("GET", `/v1/admin/mcp-servers/mcp-01ARZ3NDEKTSV4RRFFQ69G5FAV/connected-accounts`)).status).toBe(404);
  });

  test("removes an account: calls in its name are refused, and the token is revoked at the issuer", async () => {
    expect((await call(bearer(people.ada.token))).status).toBe(200);
    const shown = tools.callers.at(-1)?.token as string;
    const [own] = await accounts(`/v1/admin/end-users/${people.ada.id}`);
    const path = `/v1/admin/mcp-servers/${serverId}/connected-accounts/${own.id}`;
    expect((await world.admin.request("DELETE", path)).status).toBe(204);
    expect((await call(bearer(people.ada.token))).status).toBe(401);
    expect(await accounts(`/v1/admin/end-users/${people.ada.id}`)).toEqual([]);
    expect(at.seen.filter(({ path: asked }) => asked === "/token/revocation")).toHaveLength(1);
    expect(await at.check(shown)).toBeNull();
    expect((await world.admin.request("DELETE", path)).status).toBe(404);
    const { entries } = (await world.admin.get(`/v1/admin/admin-log?resource=mcp-servers&resource_id=${serverId}`)) as any;
    expect(entries.find(({ action }: any) => action === "end_connected_account")?.before).toMatchObject({ principal_id: people.ada.id });
  });
});
