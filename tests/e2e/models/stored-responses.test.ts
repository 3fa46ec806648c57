import { afterAll, beforeAll, expect, test } from "bun:test";
import OpenAI from "openai";
import { rowOf, rowsOf, serveModels } from "../../support/worlds/admin.ts";
import { type GatewayProcess, removeDirectory, startGateway } from "../../support/gateway.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { type ResponseVendor, startResponseVendor } from "../../support/vendors/response-vendor.ts";
import { servedBy, until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

/** What OpenAI's own client does with responses that a provider stores, and what others sharing the account may not do. */
const MODES = { modes: ["responses", "chat"], mode: "responses" };
let world: World;
let vendor: ResponseVendor;
let other: ResponseVendor;
let second: GatewayProcess;
let groupId: string;
const keys: Record<string, string> = {};
const clients: Record<string, OpenAI> = {};

beforeAll(async () => {
  vendor = startResponseVendor();
  other = startResponseVendor();
  const shared = { GW_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"), GW_JWT_SECRET: "y".repeat(44) };
  world = await startWorld(shared);
  second = await startGateway({ databaseUrl: world.databaseUrl, env: { ...shared, GW_ROLES: "runtime", GW_AUDIT_SHIP_WAIT_MS: "10" } });
  const { admin } = world;
  const account = { apiKey: "account-a" };
  const ours = await serveModels(
    admin,
    `${vendor.origin}/v1`,
    ["m", "slow", "many"].map((name) => ({ name, ...MODES })),
    { ...{ group: "ours", providerKey: "p" }, ...account },
  );
  ({ groupId } = ours);
  const group = await admin.post("/v1/admin/resource-groups", { tenant_id: "default", name: "theirs", group_type: "team" });
  await admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "q", api_format: "openai", base_url: `${other.origin}/v1`, api_key: "account-b" },
  });
  const both = [ours.groupId, group.id];
  await admin.post("/v1/admin/llms", { tenant_id: "default", name: "m2", model_name: "m", provider: "p", group_ids: both, ...MODES });
  await admin.post("/v1/admin/llms", {
    tenant_id: "default",
    name: "elsewhere",
    model_name: "m",
    provider: "q",
    group_ids: both,
    ...MODES,
  });
  await admin.post("/v1/admin/llms", {
    tenant_id: "default",
    name: "plain",
    model_name: "m",
    provider: "p",
    group_ids: both,
    mode: "chat",
  });
  await admin.post("/v1/admin/tenants", { id: "foreign", name: "foreign" });
  const far = await admin.post("/v1/admin/resource-groups", { tenant_id: "foreign", name: "far", group_type: "team" });
  await admin.post("/v1/admin/providers", {
    ...{ tenant_id: "foreign", provider_key: "p", api_format: "openai", base_url: `${vendor.origin}/v1`, api_key: "account-a" },
  });
  await admin.post("/v1/admin/llms", { tenant_id: "foreign", name: "m2", model_name: "m", provider: "p", group_ids: [far.id], ...MODES });
  keys.ours = ours.apiKey;
  for (const [name, id] of [
    ["theirs", group.id],
    ["far", far.id],
  ])
    keys[name] = (await admin.post(`/v1/admin/resource-groups/${id}/api-keys`, { name, access_mode: "shared" })).key_value;
  for (const [name, apiKey] of Object.entries(keys))
    clients[name] = new OpenAI({ apiKey, baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
  await servedBy([second], "plain", keys.ours);
});

afterAll(async () => {
  await second.stop();
  await world.end();
  await removeDirectory(second.dataDir);
  await Promise.all([vendor.stop(), other.stop()]);
});

const failure = (asked: PromiseLike<unknown>): Promise<any> =>
  Promise.resolve(asked).then(
    () => null,
    (error: unknown) => error,
  );

async function raw(method: string, path: string, key: string | null = keys.ours as string, body?: object) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/responses${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as any };
}

test("a stored response is retrieved, listed, continued and deleted by its caller", async () => {
  const { ours } = clients as { ours: OpenAI };
  const made = await ours.responses.create({ model: "m", input: "Hi" });
  const got = await ours.responses.retrieve(made.id);
  expect([got.id, got.output_text]).toEqual([made.id, "Hello there"]);
  const items = await ours.responses.inputItems.list(made.id, { limit: 5, order: "asc" });
  expect(items.data.map(({ id }) => id)).toEqual(["msg_in"]);
  expect(vendor.seen.at(-1)?.query).toBe("?limit=5&order=asc");
  const next = await ours.responses.create({ model: "m2", input: "And?", previous_response_id: made.id });
  expect(next.previous_response_id).toBe(made.id);
  expect((await failure(ours.responses.cancel(made.id))).status).toBe(400);
  await ours.responses.delete(made.id);
  expect((await failure(ours.responses.retrieve(made.id))).status).toBe(404);
  expect((await failure(ours.responses.create({ model: "m", input: "And?", previous_response_id: made.id }))).status).toBe(400);
  expect(vendor.kept.has(made.id)).toBe(false);
  const row = await rowOf(world.admin, { proxy_subtype: "response_retrieve", http_status_code: 200 });
  expect(row).toMatchObject({ http_status_code: 200, llm_provider: "p", llm_model_used: "m" });
  expect([row.llm_total_tokens ?? null, row.llm_estimated_cost_usd ?? null]).toEqual([null, null]);
});

test("a retrieved response is marked as AI-generated, and its stream can be read again from a sequence number", async () => {
  const { ours } = clients as { ours: OpenAI };
  let id = "";
  for await (const event of await ours.responses.create({ model: "m", input: "Hi", stream: true }))
    if (event.type === "response.created") id = event.response.id;
  const { status, headers } = await raw("GET", `/${id}`);
  expect([status, headers.get("x-gw-ai-generated")]).toEqual([200, "true"]);
  const numbers: number[] = [];
  for await (const event of await ours.responses.retrieve(id, { stream: true, starting_after: 5 })) numbers.push(event.sequence_number);
  expect(numbers).toEqual([6, 7]);
});

test("only its caller can reach a stored response, by any route", async () => {
  const { ours } = clients as { ours: OpenAI };
  const { id } = await ours.responses.create({ model: "m2", input: "secret" });
  const unknown = await raw("GET", "/resp_unknown");
  expect([unknown.status, unknown.body.error]).toEqual([
    404,
    { message: "Response with id 'resp_unknown' not found.", type: "invalid_request_error", param: null, code: "response_not_found" },
  ]);
  for (const key of [keys.theirs, keys.far]) {
    const asked = vendor.seen.length;
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "?stream=true"],
      ["GET", "/input_items"],
      ["POST", "/cancel"],
      ["DELETE", ""],
    ] as const) {
      const { status, body } = await raw(method, `/${id}${path}`, key);
      expect([method, path, status, body.error.code]).toEqual([method, path, 404, "response_not_found"]);
    }
    const going = (previous: string) => raw("POST", "", key, { model: "m2", input: "And?", previous_response_id: previous });
    const [foreign, never] = [await going(id), await going("resp_never")];
    expect([foreign.status, foreign.body.error.code, foreign.body.error.param]).toEqual([
      400,
      "previous_response_not_found",
      "previous_response_id",
    ]);
    expect(JSON.stringify(foreign.body).replace(id, "ID")).toBe(JSON.stringify(never.body).replace("resp_never", "ID"));
    expect(vendor.seen.length).toBe(asked);
  }
  expect((await ours.responses.retrieve(id)).id).toBe(id);
});

test("a person's response is not readable by other people or keys of their group", async () => {
  const [person, another] = [await newPerson(world.gateway.runtimeUrl, "keeper"), await newPerson(world.gateway.runtimeUrl, "colleague")];
  for (const { id } of [person, another])
    await world.admin.request("PATCH", `/v1/admin/end-users/${id}/primary-group`, { group_id: groupId });
  const { status, body } = await raw("POST", "", person.token, { model: "m", input: "Hi" });
  expect(status).toBe(200);
  expect((await raw("GET", `/${body.id}`, person.token)).status).toBe(200);
  for (const key of [another.token, keys.ours as string]) expect((await raw("GET", `/${body.id}`, key)).status).toBe(404);
  expect((await world.admin.request("DELETE", `/v1/admin/end-users/${person.id}`)).status).toBeLessThan(300);
  expect((await raw("GET", `/${body.id}`, person.token)).status).toBe(401);
});

test("malformed response IDs get 404 and are not sent to the provider", async () => {
  const asked = vendor.seen.length;
  for (const id of ["..%2Fmodels", "%2e%2e", "a%2Fb", "a%00b", "%", "x".repeat(9_000), "-resp", "resp%20x", "%F0%9F%91%8B"]) {
    const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/responses/${id}`, {
      headers: { "x-api-key": keys.ours as string },
    });
    expect([id, response.status]).toEqual([id, 404]);
  }
  for (const previous of ["../models", "..", "x".repeat(100_000), "a\u0000b", "resp x", "👋"]) {
    const { status, body } = await raw("POST", "", keys.ours, { model: "m", input: "x", previous_response_id: previous });
    expect([status, body.error.code, body.error.message.length < 400]).toEqual([400, "previous_response_not_found", true]);
  }
  expect((await raw("POST", "", keys.ours, { model: "m", input: "x", previous_response_id: 7 })).body.error).toContain(
    "previous_response_id",
  );
  expect((await raw("POST", "", keys.ours, { model: "m", input: "x", conversation: "conv_1" })).body.error).toContain("`conversation`");
  expect(vendor.seen.length).toBe(asked);
  for (const query of ["starting_after=-1", "nobody=knows", "stream=maybe"])
    expect((await raw("GET", `/resp_1?${query}`)).body).toMatchObject({ code: "invalid_query" });
});

test("a conversation continues at the provider that stored it, whichever member of a routing group would be chosen", async () => {
  const { ours } = clients as { ours: OpenAI };
  const { admin } = world;
  await admin.post("/v1/admin/llm-router/routing-groups", {
    ...{ tenant_id: "default", id: "either", name: "either", routing_strategy: "simple-shuffle" },
  });
  const member = (name: string, provider: string, routing_weight: number) =>
    admin.post("/v1/admin/llms", {
      ...{ tenant_id: "default", name, model_name: "m", provider, group_ids: [groupId], routing_group_id: "either", routing_weight },
      ...MODES,
    });
  await member("seldom", "p", 1);
  await member("mostly", "q", 1000);
  const made = await ours.responses.create({ model: "m2", input: "Hi" });
  const asked = other.seen.length;
  for (let turn = 0; turn < 5; turn++) await ours.responses.create({ model: "either", input: "And?", previous_response_id: made.id });
  expect(other.seen.length).toBe(asked);
  expect((await rowOf(admin, { llm_model_requested: "either" })).llm_used_fallback).toBe(false);
  const wrong = await raw("POST", "", keys.ours, { model: "elsewhere", input: "And?", previous_response_id: made.id });
  expect([wrong.status, wrong.body.error]).toEqual([400, expect.stringContaining("did not make")]);
  const stateless = await raw("POST", "", keys.ours, { model: "plain", input: "And?", previous_response_id: made.id });
  expect([stateless.status, stateless.body.code]).toEqual([400, "unsupported_parameter"]);
});

test("another process can continue a response at once; a response with store false cannot be retrieved", async () => {
  const { ours } = clients as { ours: OpenAI };
  const there = new OpenAI({ apiKey: keys.ours as string, baseURL: `${second.runtimeUrl}/v1/proxy/llm`, maxRetries: 0 });
  for (let turn = 0; turn < 10; turn++) {
    const { id } = await ours.responses.create({ model: "m", input: "Hi" });
    expect((await there.responses.retrieve(id)).id).toBe(id);
    await there.responses.create({ model: "m", input: "And?", previous_response_id: id });
  }
  const unstored = await ours.responses.create({ model: "m", input: "Hi", store: false });
  expect((await failure(ours.responses.retrieve(unstored.id))).status).toBe(404);
});

test("usage of background responses is recorded once each with several processes polling", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 10; i++) {
    const baseURL = `${(i % 2 === 0 ? world.gateway : second).runtimeUrl}/v1/proxy/llm`;
    const client = new OpenAI({ apiKey: keys.ours as string, baseURL, maxRetries: 0 });
    ids.push((await client.responses.create({ model: "m", input: "Think", background: true })).id);
  }
  vendor.finish();
  await rowsOf(world.admin, { proxy_subtype: "response_end" }, ids.length);
  const { ours } = clients as { ours: OpenAI };
  // Each can be deleted once its usage is recorded.
  for (const id of ids)
    await until(
      () => failure(ours.responses.delete(id)),
      (error) => error === null,
    );
  const told = await rowsOf(world.admin, { proxy_subtype: "response_end" }, ids.length);
  expect(told.map(({ custom_metadata: of }) => of.response_end.response_id).toSorted()).toEqual(ids.toSorted());
});

test("a provider that returns another response's ID or body discloses nothing of it", async () => {
  const { ours, theirs } = clients as { ours: OpenAI; theirs: OpenAI };
  const { id } = await ours.responses.create({ model: "m2", input: "secret" });
  // The other provider returns our response's ID for its new one.
  other.nextId = id;
  const taken = await theirs.responses.create({ model: "elsewhere", input: "Hi" });
  expect(taken.id).toBe(id);
  expect((await failure(theirs.responses.retrieve(id))).status).toBe(404);
  expect((await ours.responses.retrieve(id)).id).toBe(id);
  vendor.lie = (one) => ({ id: "resp_of_somebody", object: "response", status: "completed", output: [], asked: one.asked.input });
  expect((await raw("GET", `/${id}`)).body.code).toBe("upstream_invalid_response");
  const frame = `data: ${JSON.stringify({ type: "response.created", sequence_number: 0, response: { id: "resp_of_somebody", output: [] } })}\n\n`;
  vendor.lie = () => new Response(frame, { headers: { "content-type": "text/event-stream" } });
  const streamed = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/responses/${id}?stream=true`, {
    headers: { "x-api-key": keys.ours as string },
  });
  const said = await streamed.text();
  vendor.lie = null;
  expect([said.includes("resp_of_somebody"), said.includes("upstream_invalid_response")]).toEqual([false, true]);
});

test("a stream that names many responses is one response, and an endless answer becomes 502", async () => {
  const { ours } = clients as { ours: OpenAI };
  let id = "";
  for await (const event of await ours.responses.create({ model: "many", input: "Hi", stream: true }))
    if (event.type === "response.created") id = event.response.id;
  expect((await ours.responses.retrieve(id)).id).toBe(id);
  const asked = vendor.seen.length;
  for (const name of ["x", "y"]) expect((await raw("GET", `/${id}${name}`)).status).toBe(404);
  expect(vendor.seen.length).toBe(asked);
  const spaces = new Uint8Array(1024 * 1024).fill(32);
  const without = () => new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(spaces) });
  vendor.lie = () => new Response(without(), { headers: { "content-type": "application/json" } });
  const { status, body } = await raw("GET", `/${id}`);
  vendor.lie = null;
  expect([status, body.code]).toEqual([502, "upstream_interrupted"]);
});

test("each retrieval has a row of its own", async () => {
  const { ours } = clients as { ours: OpenAI };
  const { id } = await ours.responses.create({ model: "m", input: "Hi" });
  const told = { headers: { "x-correlation-id": "asks again and again" } };
  for (let i = 0; i < 3; i++) await ours.responses.retrieve(id, {}, told);
  await failure(ours.responses.retrieve("resp_unknown", {}, told));
  const rows = await rowsOf(world.admin, { correlation_id: "asks again and again" }, 4);
  expect(rows.map(({ http_status_code: status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 404]);
  expect(new Set(rows.map(({ custom_metadata: of }) => of.response.response_id))).toEqual(new Set([id, "resp_unknown"]));
});
