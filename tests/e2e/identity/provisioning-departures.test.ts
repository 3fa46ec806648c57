import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Served, serveModels } from "../../support/worlds/admin.ts";
import { patchOf, scimClient, type ScimClient } from "../../support/identity/scim.ts";
import { newPerson as newRegistered } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Access that a directory removed is restored only by that directory, and only to that person. */

let world: World;
let served: Served;
let scim: ScimClient;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  scim = await directory("entra");
});
afterAll(() => world.end());

async function directory(name: string, more: object = {}): Promise<ScimClient & { revoke(): Promise<unknown> }> {
  const { id, token } = await world.admin.post("/v1/admin/scim-tokens", { name, directory: name, tenant_id: "default", ...more });
  return { ...scimClient(world.gateway.adminUrl, token), revoke: () => world.admin.request("DELETE", `/v1/admin/scim-tokens/${id}`) };
}

let number = 0;
const newPerson = () => ({ userName: `leaver-${++number}@example.com`, externalId: `leaver-${number}` });
const active = (value: boolean) => patchOf({ op: "replace", path: "active", value });
const setActiveAsAdmin = (id: string, is_active: boolean) =>
  world.admin.request("PATCH", `/v1/admin/end-users/${id}/status?tenant_id=default`, { is_active });
const isActive = async (id: string) => (await world.admin.get(`/v1/admin/end-users/${id}`)).is_active;

test("a new person with the username of a deleted one gets neither that account nor its API keys", async () => {
  const leaver = newPerson();
  const { id } = (await scim.send("POST", "/Users", leaver)).body;
  const group = (await scim.send("POST", "/Groups", { displayName: "of the leaver", members: [{ value: id }] })).body;
  await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/end-user-groups`, { end_user_group_ids: [group.id] });
  const { key } = await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, {
    ...{ name: "theirs", scope: "user", end_user_id: id },
  });
  const models = async () =>
    (await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${key}` } })).status;
  expect(await models()).toBe(200);
  await scim.send("DELETE", `/Users/${id}`);
  const hired = { ...leaver, externalId: "hired" };
  const refused = await scim.send("POST", "/Users", hired);
  expect([refused.status, refused.body.scimType, await isActive(id), await models()]).toEqual([409, "uniqueness", false, 403]);
  const log = await world.admin.get("/v1/admin/provisioning-log?tenant_id=default&outcome=conflict");
  expect(log.entries[0].detail.reason).toContain("a deleted person of another externalId");

  expect((await world.admin.request("DELETE", `/v1/admin/end-users/${id}?tenant_id=default`)).status).toBe(204);
  const made = await scim.send("POST", "/Users", hired);
  expect([made.status, made.body.id === id, await models()]).toEqual([201, false, 401]);
});

test("a new person with the username of a deleted one gets that account if the SCIM token adopts accounts", async () => {
  const leaver = newPerson();
  const { id } = (await scim.send("POST", "/Users", leaver)).body;
  await scim.send("DELETE", `/Users/${id}`);
  const adopting = await directory("entra", { adopt_existing: true });
  const adopted = await adopting.send("POST", "/Users", { ...leaver, externalId: "known by another key" });
  expect([adopted.status, adopted.body.id]).toEqual([201, id]);
});

test("a person deactivated by the directory cannot be reactivated by an administrator", async () => {
  const { id } = (await scim.send("POST", "/Users", newPerson())).body;
  await setActiveAsAdmin(id, false);
  await scim.send("PATCH", `/Users/${id}`, active(false));
  const refused = await setActiveAsAdmin(id, true);
  expect([refused.status, refused.body.code, await isActive(id)]).toEqual([409, "directory_owned", false]);
  await scim.send("PATCH", `/Users/${id}`, active(true));
  expect([await isActive(id), (await setActiveAsAdmin(id, true)).status, await isActive(id)]).toEqual([false, 200, true]);
});

test("a person reactivated without the directory's SCIM token is deactivated when the directory says so again", async () => {
  const before = await directory("okta");
  const { id } = (await before.send("POST", "/Users", { ...newPerson(), active: false })).body;
  await before.revoke();
  expect([(await setActiveAsAdmin(id, true)).status, await isActive(id)]).toEqual([200, true]);
  const after = await directory("okta");
  expect((await after.send("PATCH", `/Users/${id}`, active(false))).status).toBe(200);
  expect(await isActive(id)).toBe(false);
  const log = await world.admin.get(`/v1/admin/provisioning-log?tenant_id=default&resource_id=${id}`);
  expect(log.entries[0].outcome).toBe("deactivated");
});

test("an unverified account registered under a username is not adopted by the directory until it is verified", async () => {
  const { userName } = newPerson();
  const squatter = await newRegistered(world.gateway.runtimeUrl, userName);
  const adopting = await directory("entra", { adopt_existing: true });
  const refused = await adopting.send("POST", "/Users", { userName, externalId: "owner of the name" });
  expect([refused.status, refused.body.scimType]).toEqual([409, "uniqueness"]);
  expect(refused.body.detail).toContain("no administrator has verified");
  expect((await adopting.send("GET", `/Users/${squatter.id}`)).status).toBe(404);
  await world.admin.request("PATCH", `/v1/admin/end-users/${squatter.id}?tenant_id=default`, { is_verified: true });
  const adopted = await adopting.send("POST", "/Users", { userName, externalId: "owner of the name" });
  expect([adopted.status, adopted.body.id]).toEqual([201, squatter.id]);
});
