import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rowOf, serveModels } from "../../support/worlds/admin.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { type PortalWorld, startPortalWorld } from "../../support/worlds/portal-world.ts";

/** What a group's member finds in the portal: its models, and the group of a call. */
let world: PortalWorld["world"];
let url: PortalWorld["url"];
let served: PortalWorld["served"];

beforeAll(async () => {
  ({ world, url, served } = await startPortalWorld());
});
afterAll(() => world.end());

test("the model picker is filtered by provider, mode, enabled state and health", async () => {
  const { admin } = world;
  const picker = await newPerson(url, "picker");
  const group = (await admin.post("/v1/admin/resource-groups", { name: "pickers" })).id;
  await admin.request("PATCH", `/v1/admin/end-users/${picker.id}/primary-group`, { group_id: group });
  // Nothing listens there, so its models are unhealthy.
  await admin.post("/v1/admin/providers", {
    tenant_id: "default",
    provider_key: "away",
    name: "away",
    api_format: "openai",
    base_url: "http://127.0.0.1:1/v1",
  });
  for (const [name, provider, mode, enabled] of [
    ["pick-chat", "fake", "chat", true],
    ["pick-embedding", "fake", "embedding", true],
    ["pick-off", "fake", "chat", false],
    ["pick-away", "away", "chat", true],
  ]) {
    const { id } = await admin.post("/v1/admin/llms", {
      tenant_id: "default",
      name,
      model_name: name,
      provider,
      mode,
      enabled,
      group_ids: [group],
    });
    if (provider === "away") await admin.post(`/v1/admin/llms/${id}/health-check`, {});
  }
  const listed = async (query: string) =>
    (await picker.request("GET", `/models${query}`)).body.models.map(({ name }: { name: string }) => name.slice(5));
  expect(await listed("")).toEqual(["away", "chat", "embedding", "off"]);
  expect(await listed("?enabled_only=True")).toEqual(["away", "chat", "embedding"]);
  expect(await listed("?healthy_only=true")).toEqual(["chat", "embedding", "off"]);
  expect(await listed("?provider=away")).toEqual(["away"]);
  expect(await listed("?modes=embedding")).toEqual(["embedding"]);
  expect(await listed("?modes=embedding,chat&healthy_only=true&enabled_only=true")).toEqual(["chat", "embedding"]);
  expect((await picker.request("GET", "/models?enabled_only=perhaps")).body.fields[0].field).toBe("enabled_only");
  expect([(await picker.request("POST", "/kb-identities", {})).status, (await picker.request("GET", "/kb-identities")).body]).toEqual([
    501,
    { mappings: [], total: 0 },
  ]);
});

test("items in the list of any of a person's groups can be read, whichever group is their primary one", async () => {
  const { admin } = world;
  const reader = await newPerson(url, "reader");
  const home = (await admin.post("/v1/admin/resource-groups", { name: "home of readers" })).id;
  await admin.request("PATCH", `/v1/admin/end-users/${reader.id}/primary-group`, { group_id: home });
  const people = (await admin.post("/v1/admin/end-user-groups", { name: "readers", initial_member_ids: [reader.id] })).id;
  await admin.post(`/v1/admin/resource-groups/${served.groupId}/end-user-groups`, { end_user_group_ids: [people] });
  const server = await admin.post("/v1/admin/mcp-servers", {
    name: "read-server",
    base_url: "http://127.0.0.1:1",
    mcp_endpoint_path: "/mcp",
    auth_type: "none",
  });
  await admin.post("/v1/admin/server-configs", { mcp_server_id: server.id, group_ids: [served.groupId], name: "for readers" });
  const { models } = (await reader.request("GET", `/models?group_id=${served.groupId}`)).body;
  const { servers } = (await reader.request("GET", `/servers?group_id=${served.groupId}`)).body;
  for (const [path, listed] of [
    ["/models", models[0]],
    ["/servers", servers[0]],
  ]) {
    expect(await reader.request("GET", `${path}/${listed.id}`)).toMatchObject({ status: 200, body: listed });
    expect((await reader.request("GET", `${path}/${listed.id}`, undefined, { "x-resource-group": served.groupId })).status).toBe(200);
    expect((await reader.request("GET", `${path}/${listed.id}`, undefined, { "x-resource-group": home })).status).toBe(404);
  }
  expect((await reader.request("GET", `/models/${served.models["hidden-1"]}`)).status).toBe(404);
});

describe("the resource group of a call", () => {
  test("is the header's, else the primary one, else the first; another group's name gets 403", async () => {
    const user = await newPerson(url, "grouped");
    const second = (await world.admin.post("/v1/admin/resource-groups", { name: "second" })).id;
    const third = (await world.admin.post("/v1/admin/resource-groups", { name: "third" })).id;
    const members = (await world.admin.post("/v1/admin/end-user-groups", { name: "grouped people", initial_member_ids: [user.id] })).id;
    await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/end-user-groups`, { end_user_group_ids: [members] });
    await world.admin.post(`/v1/admin/resource-groups/${second}/end-user-groups`, { end_user_group_ids: [members] });
    const groupOf = async (headers: Record<string, string> = {}) => {
      const reply = await fetch(`${url}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${user.token}`, ...headers } });
      return reply.ok
        ? (await rowOf(world.admin, { correlation_id: reply.headers.get("x-correlation-id") })).resource_group_id
        : reply.status;
    };
    expect(await groupOf()).toBe(served.groupId);
    expect(await groupOf({ "x-resource-group": second })).toBe(second);
    expect(await groupOf({ "x-resource-group": "second" })).toBe(second);
    expect([
      await groupOf({ "x-resource-group": third }),
      await groupOf({ "x-resource-group": "third" }),
      await groupOf({ "x-resource-group": "no such" }),
    ]).toEqual([403, 403, 403]);
    expect((await user.request("PATCH", "/auth/primary-group", { group_id: second })).body).toEqual({
      primary_group_id: second,
      previous_primary_group_id: null,
    });
    expect(await groupOf()).toBe(second);
    expect((await user.request("PATCH", "/auth/primary-group", { group_id: third })).status).toBe(403);
    expect((await user.request("GET", `/models?group_id=${third}`)).status).toBe(403);
    expect((await user.request("GET", `/models?group_id=${served.groupId}`)).body.total).toBe(1);
    await world.admin.request("DELETE", `/v1/admin/resource-groups/${second}/end-user-groups`, { end_user_group_ids: [members] });
    expect(await groupOf()).toBe(served.groupId);
    expect((await user.request("GET", "/auth/groups")).body.primary_group_id).toBeNull();
  });

  test("may be named in the header in UTF-8 and in Latin-1", async () => {
    const name = "Größe";
    const { id } = await world.admin.post("/v1/admin/resource-groups", { name });
    const user = await newPerson(url, "sized");
    await world.admin.request("PATCH", `/v1/admin/end-users/${user.id}/primary-group`, { group_id: id });
    const named = (value: string) =>
      fetch(`${url}/v1/proxy/llm/models`, { headers: { authorization: `Bearer ${user.token}`, "x-resource-group": value } });
    const inUtf8 = Buffer.from(name).toString("latin1");
    expect((await Promise.all([inUtf8, name, `${inUtf8}r`].map(named))).map(({ status }) => status)).toEqual([200, 200, 403]);
  });

  test("may be the group of a user's key or one of the user's groups", async () => {
    const user = await newPerson(url, "keyed");
    const home = (await world.admin.post("/v1/admin/resource-groups", { name: "keyed home" })).id;
    await world.admin.request("PATCH", `/v1/admin/end-users/${user.id}/primary-group`, { group_id: home });
    const key = (
      await world.admin.post(`/v1/admin/resource-groups/${served.groupId}/api-keys`, {
        name: "of keyed",
        scope: "user",
        end_user_id: user.id,
      })
    ).key_value;
    const status = async (headers: Record<string, string>) =>
      (await fetch(`${url}/v1/proxy/llm/models`, { headers: { "x-api-key": key, ...headers } })).status;
    expect([
      await status({}),
      await status({ "x-resource-group": home }),
      await status({ "x-resource-group": "team" }),
      await status({ "x-resource-group": "second" }),
    ]).toEqual([200, 200, 200, 403]);

    // A run started with the key belongs to the person, under the name they gave it.
    await (
      await fetch(`${url}/v1/proxy/llm/chat/completions`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json", "x-gw-run-id": "by key" },
        body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "x" }] }),
      })
    ).text();
    expect((await user.request("POST", "/runs/by%20key/feedback", { score: 1 })).body).toEqual({ run_id: "by key", score: 1 });
    expect((await (await newPerson(url, "keyless")).request("POST", "/runs/by%20key/feedback", { score: 1 })).status).toBe(404);
  });
});

test("a routing group whose virtual model is hidden in the nearest binding group is not in the picker", async () => {
  const { admin } = world;
  const { groupId: above, models } = await serveModels(admin, world.upstream.baseUrl, ["routed-1"], {
    group: "choosers",
    providerKey: "routed",
  });
  await admin.post("/v1/admin/llm-router/routing-groups", { id: "pick" });
  await admin.request("PATCH", `/v1/admin/llms/${models["routed-1"]}`, { routing_group_id: "pick" });
  const virtual = (await admin.get("/v1/admin/llms?mode=routing&search=pick")).llms[0].id;
  const { id: below } = await admin.post("/v1/admin/resource-groups", { name: "below choosers", parent_group_id: above });
  const bindings = (group: string) => `/v1/admin/resource-groups/${group}/llm-models`;
  const person = await newPerson(url, "virtual-reader");
  await admin.request("PATCH", `/v1/admin/end-users/${person.id}/primary-group`, { group_id: below });
  const picks = async () => (await person.request("GET", "/models")).body.models.map(({ name }: { name: string }) => name);
  expect(await picks()).toEqual(["pick", "routed-1"]);
  await admin.post(bindings(above), { model_ids: [virtual] });
  expect((await admin.request("PATCH", `${bindings(above)}/pick/portal-visibility`, { portal_visible: false })).status).toBe(200);
  expect(await picks()).toEqual(["routed-1"]);
  expect((await person.request("GET", `/models/${virtual}`)).status).toBe(404);
  await admin.post(bindings(below), { model_ids: [virtual] });
  expect(await picks()).toEqual(["pick", "routed-1"]);
});
