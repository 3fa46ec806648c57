import { expect, test } from "bun:test";
import fc from "fast-check";
import { refuse } from "../../../kernel/errors.ts";
import { KEEP_ALIVE, withKeepAlive } from "./keep-alive.ts";
import { type EditAnswer, RpcStream } from "./rpc-stream.ts";

const PROGRESS = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n';
const ANSWER = 'event: message\nid: 7\ndata: {"jsonrpc":"2.0","id":1,"result":{"tools":[1,2]}}\n\n';

function passed(text: string, id: number | null, edit: EditAnswer, sizes: readonly number[] = []) {
  const stream = new RpcStream(id, edit);
  const bytes = new TextEncoder().encode(text);
  let out = "";
  const add = (piece: Uint8Array | null) => {
    if (piece !== null) out += new TextDecoder().decode(piece);
  };
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    add(stream.push(bytes.subarray(at, at + size)));
    at = Math.min(bytes.length, at + size);
  }
  const { complete, last } = stream.end();
  return { out, last: last === null ? null : new TextDecoder().decode(last), complete, refusal: stream.refusal };
}

const asItIs: EditAnswer = () => null;

test("messages pass unchanged, however the stream is cut; the answer is held and comes last", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 30 }), (sizes) => {
      expect(passed(`${PROGRESS}${ANSWER}${PROGRESS}`, 1, asItIs, sizes)).toEqual({
        out: PROGRESS,
        last: ANSWER,
        complete: true,
        refusal: null,
      });
    }),
  );
});

test("an answer is changed within its frame, or withheld", () => {
  const shorter = '{"jsonrpc":"2.0","id":1,"result":{"tools":[1]}}';
  expect(passed(ANSWER, 1, () => shorter).last).toBe(`event: message\nid: 7\ndata: ${shorter}\n\n`);
  const refusal = refuse("tool_result_too_large");
  expect(passed(`${PROGRESS}${ANSWER}`, 1, () => refusal)).toEqual({ out: PROGRESS, last: null, complete: false, refusal });
});

test("a stream without its answer is incomplete, unless its events have IDs and it can be resumed", () => {
  expect(passed(PROGRESS, 1, asItIs).complete).toBe(false);
  expect(passed(`id: 3\n${PROGRESS}`, 1, asItIs).complete).toBe(true);
  expect(passed(ANSWER, 2, asItIs)).toMatchObject({ out: ANSWER, last: null });
});

test("an answer on a resumed stream is edited like any other", () => {
  const edited = passed(`${PROGRESS}${ANSWER}`, null, () => refuse("tool_result_too_large"));
  expect(edited.out.startsWith(PROGRESS)).toBe(true);
  expect(edited.out).toContain('"code":4031');
  expect(edited.out).not.toContain("tools");
  expect(edited.complete).toBe(true);
});

test("a server's request is detected, and a notification with an ID in its content is not taken for one", () => {
  const asked = (message: object) => {
    const stream = new RpcStream(1, asItIs);
    stream.push(new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`));
    return stream.asked;
  };
  expect(asked({ method: "notifications/message", params: { level: "info", data: { id: 7, method: "x" } } })).toBe(false);
  expect(asked({ method: "ping", id: 1 })).toBe(false);
  expect(asked({ method: "elicitation/create", id: 0, params: {} })).toBe(true);
});

test.each([20, 60_000])("the maximum silence ends a stream, with keep-alive comments every %d ms", async (everyMs) => {
  let over: () => void = () => undefined;
  const ended = new Promise<"over">((resolve) => {
    over = () => resolve("over");
  });
  const reader = withKeepAlive(new ReadableStream<Uint8Array>().getReader(), everyMs, { ms: 50, over });
  for (;;) {
    const next = await Promise.race([ended, reader.read()]);
    if (next === "over") break;
    expect(next.value).toBe(KEEP_ALIVE);
  }
});
