import { afterAll, beforeAll, expect, test } from "bun:test";
import { fakeVendor } from "../../support/vendors/fake-vendor.ts";
import { STREAM_FRAMES, USAGE_FRAME } from "../../support/vendors/fake-upstream.ts";
import { rowOf, serveModels } from "../../support/worlds/admin.ts";
import { startWorld, type World } from "../../support/world.ts";

const EVENTS = { headers: { "content-type": "text/event-stream" } };
const PIECE = new TextEncoder().encode(": OPENROUTER PROCESSING\n\n");

/** A stream of keep-alives without end, after an opening. */
const lasting = (opening: string) =>
  new Response(
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(opening)),
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        controller.enqueue(PIECE);
      },
    }),
    EVENTS,
  );
const KEEP_ALIVE = `event: keepalive\ndata: {"type":"keepalive","sequence_number":1}\n\n`;
const stored = { id: "resp_1", object: "response", created_at: 1, status: "completed", model: "keeps", output: [], usage: null };
const vendor = fakeVendor(({ path, body }) => {
  if (path.includes("/responses/resp_1")) return lasting(KEEP_ALIVE);
  if (path.endsWith("/responses")) return Response.json(stored);
  const { model } = JSON.parse(body) as { model: string };
  if (model === "queues") return lasting("");
  if (model === "stalls") return lasting(STREAM_FRAMES[1] as string);
  return new Response([...STREAM_FRAMES, USAGE_FRAME, "data: [DONE]\n\n"].join(""), EVENTS);
});

let world: World;
let key: string;

beforeAll(async () => {
  world = await startWorld({ GW_UPSTREAM_TIMEOUT_SECONDS: "1" });
  await world.admin.post("/v1/admin/llm-router/routing-groups", {
    ...{ tenant_id: "default", id: "two", timeout: 1, routing_strategy: "ordered", retry_after: 0, num_retries: 1 },
  });
  ({ apiKey: key } = await serveModels(world.admin, `${vendor.origin}/v1`, [
    "queues",
    "stalls",
    { name: "keeps", mode: "responses" },
    { name: "queues-first", model_name: "queues", routing_group_id: "two", routing_weight: 5 },
    { name: "answers", routing_group_id: "two", routing_weight: 1 },
  ]));
});
afterAll(async () => {
  await vendor.stop();
  await world.end();
});

async function streamed(model: string) {
  const response = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hi" }] }),
  });
  const text = await response.text();
  return { text, row: await rowOf(world.admin, { id: response.headers.get("x-request-id") }) };
}

test.each(["queues", "stalls"])("a stream whose provider only keeps the connection alive times out (%s)", async (model) => {
  const { text, row } = await streamed(model);
  expect(text).toContain("OPENROUTER PROCESSING");
  expect(text).toContain('"code":"upstream_timeout"');
  expect(row).toMatchObject({ success: false, error_type: "upstream_timeout" });
});

test("another member answers instead of one that only keeps the connection alive", async () => {
  const { text, row } = await streamed("two");
  expect(text).not.toContain("OPENROUTER");
  expect(row).toMatchObject({ success: true, llm_model_used: "answers" });
  expect(row.custom_metadata.attempts).toMatchObject([{ outcome: "upstream_timeout" }, { outcome: "served" }]);
});

test("a stored response that is streamed again times out in the same way", async () => {
  const { runtimeUrl } = world.gateway;
  const headers = { "content-type": "application/json", "x-api-key": key };
  const body = JSON.stringify({ model: "keeps", input: "Hi", store: true });
  const created = await fetch(`${runtimeUrl}/v1/proxy/llm/responses`, { method: "POST", headers, body });
  const { id } = (await created.json()) as { id: string };
  const again = await fetch(`${runtimeUrl}/v1/proxy/llm/responses/${id}?stream=true`, { headers });
  expect(await again.text()).toContain("upstream_timeout");
});
