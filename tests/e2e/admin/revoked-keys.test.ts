import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { rowOf, serveModels, type Served, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let served: Served;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1", "hold"]);
});
afterAll(() => world.end());

const newKey = (name: string) => world.admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, { name, access_mode: "shared" });

async function held(key: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "hold", stream: true, messages: [{ role: "user", content: "hello" }] }),
  });
  return begun(answer);
}

async function begun(answer: Response) {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  return { id: answer.headers.get("x-request-id"), reader };
}

const callWith = (key: string) =>
  fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hello" }] }),
  });

async function restOf(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  let rest = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) rest += new TextDecoder().decode(read.value);
  return rest;
}

test("revoking an API key ends its streams; streams of other and rotated keys go on", async () => {
  const [revoked, other, rotated] = [await newKey("revoked"), await newKey("other"), await newKey("rotated")];
  const streams = { revoked: await held(revoked.key_value), other: await held(other.key_value), rotated: await held(rotated.key_value) };
  await world.admin.post(`/v1/admin/api-keys/${rotated.id}/rotate`, { grace_seconds: 60 });
  expect((await world.admin.request("DELETE", `/v1/admin/api-keys/${revoked.id}`)).status).toBe(200);
  expect(await restOf(streams.revoked.reader)).toContain("Your access ended");
  expect(await rowOf(world.admin, { id: streams.revoked.id })).toMatchObject({ success: false, error_type: "access_ended" });

  for (const { id, reader } of [streams.other, streams.rotated]) {
    await reader.cancel();
    expect(await rowOf(world.admin, { id })).toMatchObject({ error_type: "client_disconnected" });
  }
});

test("revoking an API key takes effect at once in a database restored to an older state, and ends its streams", async () => {
  const [revoked, other] = [await newKey("of the database that was set back"), await newKey("beside it")];
  const streams = { revoked: await held(revoked.key_value), other: await held(other.key_value) };
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  try {
    // Like a replica that missed the newest changes when its primary was lost. Two statements in one query run in one transaction.
    await database.query(
      "DELETE FROM config_changes WHERE version > (SELECT version - 4 FROM config_version); UPDATE config_version SET version = version - 4",
    );
  } finally {
    await database.end();
  }
  expect((await world.admin.request("DELETE", `/v1/admin/api-keys/${revoked.id}`)).status).toBe(200);
  expect(await restOf(streams.revoked.reader)).toContain("Your access ended");
  expect((await callWith(revoked.key_value)).status).toBe(401);
  expect((await callWith(other.key_value)).status).toBe(200);
  await streams.other.reader.cancel();
});

test("suspending an AI System ends its streams; streams of another group go on", async () => {
  const { admin } = world;
  const account = { tenant_id: "default", username: "owner-of-systems", password: ADMIN_PASSWORD };
  await admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  const owner = await signIn(world.gateway.adminUrl, account, "tenant");
  const group = await owner.post("/v1/admin/resource-groups", { name: "to be suspended", parent_group_id: served.groupId });
  await owner.post("/v1/admin/ai-systems", { group_id: group.id });
  const key = await owner.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "of the system" });
  const other = await newKey("of the group above");
  const streams = { system: await held(key.key_value), other: await held(other.key_value) };
  await owner.post(`/v1/admin/ai-systems/${group.id}/lifecycle`, { to: "suspended", reason: "it runs away" });
  expect(await restOf(streams.system.reader)).toContain("Your access ended");
  expect(await rowOf(admin, { id: streams.system.id })).toMatchObject({ success: false, error_type: "access_ended" });
  await streams.other.reader.cancel();
  expect(await rowOf(admin, { id: streams.other.id })).toMatchObject({ error_type: "client_disconnected" });
});

test("removing a person from a group ends the streams that rely on it, but not those of an API key or the portal", async () => {
  const { admin } = world;
  const person = await newPerson(world.gateway.runtimeUrl, "a member of it");
  const [left, kept] = [
    await admin.post("/v1/admin/end-user-groups", { name: "left" }),
    await admin.post("/v1/admin/end-user-groups", { name: "kept" }),
  ];
  const other = await admin.post("/v1/admin/resource-groups", { name: "still open", parent_group_id: served.groupId });
  await admin.post(`/v1/admin/end-user-groups/${left.id}/resource-groups`, { resource_group_ids: [served.groupId] });
  await admin.post(`/v1/admin/end-user-groups/${kept.id}/resource-groups`, { resource_group_ids: [other.id] });
  for (const { id } of [left, kept]) await admin.post(`/v1/admin/end-user-groups/${id}/members`, { end_user_ids: [person.id] });
  const key = await admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, {
    name: "of the person",
    scope: "user",
    end_user_id: person.id,
  });
  const token = String(person.token);
  const streams = {
    left: await held(token, { "x-resource-group": served.groupId }),
    kept: await held(token, { "x-resource-group": other.id }),
    key: await held(key.key_value),
    portal: await begun(
      await fetch(`${world.gateway.runtimeUrl}/v1/portal/events`, {
        headers: { authorization: `Bearer ${token}`, "x-resource-group": served.groupId },
      }),
    ),
  };
  expect((await admin.request("DELETE", `/v1/admin/end-user-groups/${left.id}/members`, { end_user_ids: [person.id] })).status).toBe(200);
  expect(await restOf(streams.left.reader)).toContain("Your access ended");
  expect(await rowOf(admin, { id: streams.left.id })).toMatchObject({ success: false, error_type: "access_ended" });
  // A portal stream never ends, so leaving it is not an error.
  for (const [{ id, reader }, ended] of [
    [streams.kept, "client_disconnected"],
    [streams.key, "client_disconnected"],
    [streams.portal, null],
  ] as const) {
    await reader.cancel();
    expect(await rowOf(admin, { id })).toMatchObject({ error_type: ended });
  }
});

test("disabling a tenant ends its streams", async () => {
  const { admin } = world;
  const stream = await held((await newKey("of the tenant")).key_value);
  const tenant = await admin.request("PATCH", "/v1/admin/tenants/default", { enabled: false });
  expect(tenant.status).toBe(200);
  expect(await restOf(stream.reader)).toContain("Your access ended");
  expect(await rowOf(admin, { id: stream.id })).toMatchObject({ success: false, error_type: "access_ended" });
});
