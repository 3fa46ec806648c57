import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AddressInfo, createServer, type Server } from "node:net";
import { rowOf, serveModels } from "../../support/worlds/admin.ts";
import { fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { type RawUpstream, startRawUpstream } from "../../support/vendors/raw-upstream.ts";
import { startUnansweredAddress, type UnansweredAddress } from "../../support/processes/unanswered-address.ts";
import { startWorld, type World } from "../../support/world.ts";

/** A provider bills what it was sent, whether or not anyone waited for its answer: an abandoned attempt costs that much. */

const PRICED = { input_cost_per_million_tokens: 1_000, output_cost_per_million_tokens: 0 };
const TEXT = "x".repeat(4_000);
/** The cost of what was sent: a thousand tokens of four characters each, at $1,000 a million. */
const SENT = 1;

const torn = (pieces: readonly string[]) => {
  const left = pieces.map((piece) => new TextEncoder().encode(piece));
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const piece = left.shift();
      if (piece === undefined) controller.error(new Error("torn"));
      else controller.enqueue(piece);
    },
  });
};
/** Models to which no connection is established. */
const UNCONNECTED = ["unanswered", "unsecured", "passed-over", "embeds", "draws"];
const EVENTS = { headers: { "content-type": "text/event-stream" } };
const OPENING = `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] })}\n\n`;
const vendor = fakeVendor(({ body }) => {
  const { model } = JSON.parse(body) as { model: string };
  if (model === "silent") return new Promise<Response>(() => undefined);
  if (model === "halves") return new Response(torn(['{"choices": [']), { headers: { "content-type": "application/json" } });
  if (model === "tears") return new Response(torn([OPENING]), EVENTS);
  if (model === "ends") return new Response(OPENING, EVENTS);
  if (model === "says") return new Response(`${OPENING}data: {"error":{"message":"overloaded"}}\n\n`, EVENTS);
  if (model === "fails") return Response.json({ error: { message: "no" } }, { status: 500 });
  const message = { role: "assistant", content: "Yes" };
  const usage = { prompt_tokens: 500, completion_tokens: 1, total_tokens: 501 };
  return Response.json({ id: "c", object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }], usage });
});

/** Reads a request and resets the connection. */
const resets = createServer((socket) => socket.on("data", () => socket.resetAndDestroy()));

/** Accepts connections and says nothing on them, not even a TLS handshake. */
const mute = createServer(() => undefined);

let world: World;
let unanswered: UnansweredAddress;
let hanging: RawUpstream;
let key: string;

beforeAll(async () => {
  world = await startWorld();
  hanging = await startRawUpstream(() => ({ head: null, pieces: [], ending: "end" }));
  await world.admin.post("/v1/admin/providers", {
    ...{ tenant_id: "default", provider_key: "hanging", api_format: "openai", base_url: `${hanging.origin}/v1` },
  });
  unanswered = await startUnansweredAddress("127.0.0.2", 0);
  const nowhere = `http://127.0.0.2:${unanswered.port}/v1`;
  const unsecured = `https://127.0.0.1:${await listening(mute)}/v1`;
  const names = ["silent", "halves", "tears", "ends", "says", "fails"];
  const router = "/v1/admin/llm-router/routing-groups";
  for (const id of [...names.map((name) => `only-${name}`), "only-hangs-up", "then-serves", ...UNCONNECTED.map((name) => `only-${name}`)])
    await world.admin.post(router, {
      tenant_id: "default",
      id,
      // Short only for models that do nothing but time out: others get as long as a busy machine needs.
      ...((id === "only-silent" || UNCONNECTED.some((name) => id === `only-${name}`)) && { timeout: 0.5 }),
      ...(id === "then-serves" && { timeout: 3 }),
      routing_strategy: "ordered",
      retry_after: 0,
      num_retries: id === "then-serves" || id === "only-passed-over" ? 1 : 0,
      ...(id === "only-embeds" && { mode: "embedding" }),
      ...(id === "only-draws" && { mode: "image" }),
    });
  ({ apiKey: key } = await serveModels(world.admin, `${vendor.origin}/v1`, [
    ...names.map((name) => ({ name, ...PRICED, routing_group_id: `only-${name}` })),
    { name: "hangs-up", provider: "hanging", ...PRICED, routing_group_id: "only-hangs-up" },
    { name: "first", model_name: "silent", ...PRICED, routing_group_id: "then-serves", routing_weight: 5 },
    { name: "second", model_name: "serves", ...PRICED, routing_group_id: "then-serves", routing_weight: 1 },
    { name: "resets", ...PRICED, api_key: "k", base_url: `http://127.0.0.1:${await listening(resets)}/v1` },
    { name: "refuses", ...PRICED, api_key: "k", base_url: "http://127.0.0.1:1/v1" },
    ...UNCONNECTED.map((name) => ({
      ...{ name, ...PRICED, routing_group_id: `only-${name}`, routing_weight: 5 },
      ...{ api_key: "k", base_url: name === "unsecured" ? unsecured : nowhere },
      ...(name === "embeds" && { mode: "embedding" }),
      ...(name === "draws" && { mode: "image" }),
    })),
    { name: "after-unanswered", model_name: "serves", ...PRICED, routing_group_id: "only-passed-over", routing_weight: 1 },
    { name: "unanswered-alone", ...PRICED, api_key: "k", base_url: nowhere },
    { name: "gone", model_name: "halves", ...PRICED },
  ]));
});
afterAll(async () => {
  resets.close();
  mute.close();
  unanswered.stop();
  await vendor.stop();
  await hanging.stop();
  await world.end();
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

const rowFor = (model: string, stream: boolean) =>
  rowOfCall("chat/completions", { model, stream, messages: [{ role: "user", content: TEXT }] });

async function rowOfCall(path: string, body: object) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify(body),
  });
  await response.text();
  return rowOf(world.admin, { id: response.headers.get("x-request-id") });
}

test.each([
  ["only-silent", false, "upstream_timeout"],
  ["only-silent", true, "upstream_timeout"],
  ["only-halves", false, "upstream_interrupted"],
  ["only-tears", true, "upstream_interrupted"],
  ["only-ends", true, "upstream_interrupted"],
  ["gone", false, "upstream_interrupted"],
  // It got the whole request: a load balancer in between may have given up on an answer that is billed all the same.
  ["only-hangs-up", false, "upstream_interrupted"],
  ["resets", false, "upstream_interrupted"],
  ["resets", true, "upstream_interrupted"],
])("the input sent to %s is metered as an estimate (streamed: %p)", async (model, stream, error_type) => {
  const row = await rowFor(model, stream);
  expect(row).toMatchObject({ success: false, error_type, llm_prompt_tokens: 1_000, llm_completion_tokens: 0, tags: ["usage_estimated"] });
  expect(row.llm_estimated_cost_usd).toBe(SENT);
  expect(row.custom_metadata.attempts).toMatchObject([{ outcome: error_type, prompt_tokens: 1_000, cost_usd: SENT }]);
});

test.each(["only-says", "only-fails"])("an attempt that %s refused costs nothing", async (model) => {
  const row = await rowFor(model, model === "only-says");
  expect(row).toMatchObject({ success: false, llm_prompt_tokens: null, llm_estimated_cost_usd: null });
});

test("an attempt that timed out is charged in addition to the one that succeeded", async () => {
  const row = await rowFor("then-serves", false);
  expect(row).toMatchObject({
    success: true,
    llm_model_used: "second",
    llm_prompt_tokens: 1_500,
    llm_completion_tokens: 1,
    tags: ["usage_estimated"],
  });
  expect(row.llm_estimated_cost_usd).toBe(SENT + 0.5);
});

test("an attempt that could not connect costs nothing", async () => {
  const row = await rowFor("refuses", false);
  expect(row).toMatchObject({ success: false, error_type: "upstream_unreachable" });
  expect(row.llm_estimated_cost_usd ?? 0).toBe(0);
});

test.each([
  ["unanswered", "chat/completions", {}],
  ["unanswered", "chat/completions", { stream: true }],
  ["unsecured", "chat/completions", {}],
  ["unsecured", "chat/completions", { stream: true }],
  ["embeds", "embeddings", { input: TEXT }],
  ["draws", "images/generations", { prompt: TEXT }],
])("an attempt at %s that timed out before its connection was established costs nothing (%s)", async (name, path, asked) => {
  const row = await rowOfCall(path, { model: `only-${name}`, messages: [{ role: "user", content: TEXT }], ...asked });
  expect(row).toMatchObject({ success: false, error_type: "upstream_timeout", llm_prompt_tokens: null, llm_estimated_cost_usd: null });
  expect(row.custom_metadata.attempts).toMatchObject([{ outcome: "upstream_timeout" }]);
});

test("only the attempt that was sent is charged after one that could not connect", async () => {
  const row = await rowFor("only-passed-over", false);
  expect(row).toMatchObject({ success: true, llm_model_used: "after-unanswered", llm_prompt_tokens: 500 });
  expect(row.llm_estimated_cost_usd).toBe(0.5);
});

test("a caller who leaves before the connection is established pays nothing", async () => {
  const leaving = new AbortController();
  const body = JSON.stringify({ model: "unanswered-alone", messages: [{ role: "user", content: TEXT }] });
  const headers = { "content-type": "application/json", "x-api-key": key };
  const { runtimeUrl } = world.gateway;
  setTimeout(() => leaving.abort(), 500);
  await fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, { method: "POST", headers, body, signal: leaving.signal }).catch(() => null);
  const row = await rowOf(world.admin, { llm_model_requested: "unanswered-alone" });
  expect(row).toMatchObject({ error_type: "client_disconnected", llm_estimated_cost_usd: null });
});
