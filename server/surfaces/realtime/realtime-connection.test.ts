import { expect, test } from "bun:test";
import type { JsonObject } from "../../kernel/json-value.ts";
import { RealtimeConnection } from "./realtime-connection.ts";

/** What a flooding provider makes the gateway keep. */
function connection(bounds: { early: number; unread: number; audio: number }) {
  const sent: JsonObject[] = [];
  const told: JsonObject[] = [];
  const of = new RealtimeConnection(bounds);
  of.opened({ send: (text) => void sent.push(JSON.parse(text) as JsonObject), queuedBytes: 0, close() {} });
  const attach = () => of.attach({ event: (event) => void told.push(event), connectionClosed() {} });
  const say = (event: JsonObject) => of.message(JSON.stringify(event));
  const respond = () => {
    attach();
    const stream = of.ask([{ type: "response.create" }], null) as ReadableStream<Uint8Array>;
    say({ type: "response.created", response: { id: "resp_1" } });
    return stream;
  };
  return { sent, told, attach, say, respond };
}

const ROOMY = { early: 10_000, unread: 10_000, audio: 10_000 };
const isCancelled = (sent: readonly JsonObject[]) =>
  sent.some(({ type, response_id: id }) => type === "response.cancel" && id === "resp_1");

test("events that nobody reads end the response beyond the bound, by their bytes", async () => {
  const { respond, say, sent } = connection({ ...ROOMY, unread: 1_000 });
  const stream = respond();
  for (let n = 0; n < 3; n++) say({ type: "response.output_text.delta", response_id: "resp_1", delta: "x".repeat(100) });
  expect(isCancelled(sent)).toBe(false);
  say({ type: "response.output_text.delta", response_id: "resp_1", delta: "x".repeat(600) });
  expect(isCancelled(sent)).toBe(true);
  await expect(new Response(stream).text()).rejects.toThrow("more unread events than the gateway holds");
});

test("audio without an end ends the response beyond the bound, whatever member makes it long", () => {
  const { respond, say, sent } = connection({ ...ROOMY, audio: 500 });
  respond();
  say({ type: "response.output_audio.delta", response_id: "resp_1", item_id: "a", content_index: 0, delta: "AAAA" });
  expect(isCancelled(sent)).toBe(false);
  say({ type: "response.output_audio.delta", response_id: "resp_1", item_id: "a", content_index: 0, padding: "x".repeat(500) });
  expect(isCancelled(sent)).toBe(true);
});

test("before the client's socket is open no more than the bound is kept", () => {
  const { attach, say, told } = connection({ ...ROOMY, early: 100 });
  say({ type: "session.created", session: { id: "sess_1" } });
  say({ type: "session.updated", session: { padding: "x".repeat(100) } });
  attach();
  expect(told.map(({ type }) => type)).toEqual(["session.created"]);
});
