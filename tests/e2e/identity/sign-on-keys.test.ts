import { afterAll, beforeAll, expect, test } from "bun:test";
import { patchOf, scimClient } from "../../support/identity/scim.ts";
import { arriveAtPage, makeSignOnProvider, signInByProvider, type SignOnProviderRecord } from "../../support/identity/sign-on-pages.ts";
import { startSigningIssuer, type SigningIssuer } from "../../support/identity/signing-issuer.ts";
import { until } from "../../support/until.ts";
import { serveModels } from "../../support/worlds/admin.ts";
import { logIn, PASSWORD } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** API keys of people whom the identity provider no longer admits stop working until their holders sign in again. */

let world: World;
let issuer: SigningIssuer;
let groupId: string;

beforeAll(async () => {
  world = await startWorld({ GW_PROCESSES: "2" });
  issuer = await startSigningIssuer();
  ({ groupId } = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "hold"]));
  await world.admin.request("PATCH", "/v1/admin/tenants/default", { portal_api_keys: "on" });
});
afterAll(async () => {
  await world.end();
  await issuer.stop();
});

let people = 0;
const newSub = () => `holder-${++people}`;
const make = (more: Record<string, unknown> = {}) => makeSignOnProvider(world, issuer, "portal", more);
const change = (id: string, body: object) => world.admin.request("PATCH", `/v1/admin/identity-providers/${id}`, body);

const open = (key: string) => fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": key } });

/** Signs someone in and creates a key of their own. */
async function holder(provider: SignOnProviderRecord, sub = newSub(), claims: object = {}) {
  const page = await signInByProvider(world, issuer, provider, { sub, ...claims });
  const profile = await fetch(`${world.gateway.runtimeUrl}/v1/portal/auth/profile`, { headers: { authorization: `Bearer ${page.token}` } });
  const { id } = (await profile.json()) as { id: string };
  await world.admin.request("PATCH", `/v1/admin/end-users/${id}/primary-group`, { group_id: groupId });
  const made = await fetch(`${world.gateway.runtimeUrl}/v1/portal/api-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${page.token}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "mine" }),
  });
  const { key } = (await made.json()) as { key: string };
  await untilAccepted(key);
  return { id, sub, key, page, account: () => world.admin.get(`/v1/admin/end-users/${id}`) };
}

/** Waits until every process answers with `status`. */
async function untilAlways(key: string, status: number): Promise<void> {
  await until(
    () => Promise.all(Array.from({ length: 8 }, () => open(key).then((answer) => answer.status))),
    (statuses) => statuses.every((one) => one === status),
  );
}
const untilAccepted = (key: string) => untilAlways(key, 200);
const untilRefused = (key: string) => untilAlways(key, 403);

test("disabling an identity provider suspends its people's API keys until each signs in again", async () => {
  const [provider, other] = [await make(), await make()];
  const [ada, neighbour] = [await holder(provider), await holder(other)];
  expect((await ada.account()).api_keys_suspended_at).toBeNull();
  await change(provider.id, { enabled: false });
  await untilRefused(ada.key);
  expect(((await (await open(ada.key)).json()) as any).code).toBe("api_key_suspended");
  expect((await ada.account()).api_keys_suspended_at).toMatch(/^\d{4}-/);
  await untilAccepted(neighbour.key);
  await change(provider.id, { enabled: true });
  await untilRefused(ada.key);
  await signInByProvider(world, issuer, provider, { sub: ada.sub });
  await untilAccepted(ada.key);
  expect((await ada.account()).api_keys_suspended_at).toBeNull();
});

test("a refused sign-in, an unlinked identity and a deleted identity provider suspend API keys too", async () => {
  const provider = await make({ required_group: "all" });
  const [refused, unlinked, left] = [await holder(provider), await holder(provider), await holder(provider)];
  expect((await arriveAtPage(world, issuer, provider, { sub: refused.sub, groups: ["others"] })).status).toBe(403);
  await untilRefused(refused.key);
  await world.admin.request("DELETE", `/v1/admin/identity-providers/${provider.id}/identities?subject=${unlinked.sub}`);
  await untilRefused(unlinked.key);
  await untilAccepted(left.key);
  await world.admin.request("DELETE", `/v1/admin/identity-providers/${provider.id}`);
  await untilRefused(left.key);
});

test("an identity provider through which a person never signed in does not affect their API keys", async () => {
  const [provider, other] = [await make(), await make({ required_group: "all" })];
  const ada = await holder(provider);
  const link = (subject: string) =>
    world.admin.post(`/v1/admin/identity-providers/${other.id}/identities`, { subject, end_user_id: ada.id });
  const suspendedAt = async () => (await ada.account()).api_keys_suspended_at;
  await link("mistaken");
  await world.admin.request("DELETE", `/v1/admin/identity-providers/${other.id}/identities?subject=mistaken`);
  expect(await suspendedAt()).toBeNull();
  const sub = newSub();
  await link(sub);
  expect((await arriveAtPage(world, issuer, other, { sub, groups: ["others"] })).status).toBe(403);
  expect(await suspendedAt()).toBeNull();
  await untilAccepted(ada.key);
});

test("a provider with suspends_api_keys off leaves API keys as they are", async () => {
  const provider = await make({ suspends_api_keys: false, required_group: "all" });
  const ada = await holder(provider);
  expect((await arriveAtPage(world, issuer, provider, { sub: ada.sub, groups: ["others"] })).status).toBe(403);
  await change(provider.id, { enabled: false });
  await until(
    () => ada.page.works(),
    (works) => !works,
  );
  await untilAccepted(ada.key);
});

test("a person with a password gets suspended API keys back by signing in with it", async () => {
  const provider = await make();
  const ada = await holder(provider);
  await world.admin.request("PATCH", `/v1/admin/end-users/${ada.id}`, { password: PASSWORD });
  await change(provider.id, { enabled: false });
  await untilRefused(ada.key);
  await logIn(world.gateway.runtimeUrl, `${ada.sub}@example.com`);
  await untilAccepted(ada.key);
});

test("suspending an API key ends its streams", async () => {
  const provider = await make();
  const ada = await holder(provider);
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${ada.key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "hold", stream: true, messages: [{ role: "user", content: "hello" }] }),
  });
  expect(answer.status).toBe(200);
  await change(provider.id, { enabled: false });
  expect(await answer.text()).toContain("Your access ended");
});

test("removing a person from the required group, or renaming it, ends their sessions and suspends their API keys", async () => {
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { tenant_id: "default", name: "k", directory: "keyed" });
  const scim = scimClient(world.gateway.adminUrl, token);
  const provider = await make({ scim_directory: "keyed", required_group: "Keyed staff" });
  const subs = [newSub(), newSub()];
  const ids: string[] = [];
  for (const sub of subs) ids.push((await scim.send("POST", "/Users", { userName: `${sub}@example.com`, externalId: sub })).body.id);
  const group = (await scim.send("POST", "/Groups", { displayName: "Keyed staff", members: ids.map((value) => ({ value })) })).body.id;
  const groups = ["Keyed staff"];
  const [leaver, stayer] = [await holder(provider, subs[0], { groups }), await holder(provider, subs[1], { groups })];
  await scim.send("PATCH", `/Groups/${group}`, patchOf({ op: "remove", path: `members[value eq "${ids[0]}"]` }));
  await untilRefused(leaver.key);
  await untilAccepted(stayer.key);
  expect(await stayer.page.works()).toBe(true);
  await scim.send("PATCH", `/Groups/${group}`, patchOf({ op: "replace", path: "displayName", value: "Former staff" }));
  await until(
    () => stayer.page.works(),
    (works) => !works,
  );
  await untilRefused(stayer.key);
});
