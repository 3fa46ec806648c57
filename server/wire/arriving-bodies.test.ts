import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { serve, type Serving } from "../runtime/serve.ts";
import { bodyShare } from "../kernel/group-size.ts";
import { ArrivingBodies } from "./arriving-bodies.ts";

const IDLE_MS = 300;
const PLACE = "192.0.2.1";

let serving: Serving;
const bodies = new ArrivingBodies({ idleMs: IDLE_MS, wholeMs: 4 * IDLE_MS, mostOfAPlace: 2, mostBytes: 2_000_000 });

beforeAll(() => {
  serving = serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const known = request.headers.get("x-known");
      const read = await bodies.read(request, 1024 * 1024, known === null ? PLACE : null, known ?? PLACE).catch(() => "broken");
      return new Response(typeof read === "string" ? read : `${read.byteLength} bytes`);
    },
    onError: (error) => new Response(error.message),
  });
});
afterAll(() => serving.stop({ graceSeconds: 0 }));

interface Sender {
  readonly socket: Socket;
  /** The body of the answer. */
  readonly answer: Promise<string>;
}

function begin(headers: string, firstBytes = "x"): Sender {
  const { promise: answer, resolve } = Promise.withResolvers<string>();
  const socket = connect(serving.port, "127.0.0.1");
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n${firstBytes}`);
  socket.on("data", (piece) => resolve(String(piece).split("\r\n\r\n")[1] ?? ""));
  return { socket, answer };
}

test.each([
  ["small", "content-length: 100"],
  ["large", "content-length: 200000"],
  ["of no told length", "transfer-encoding: chunked"],
])("a %s body that stops coming is given up", async (_what, header) => {
  const { answer, socket } = begin(header, header.startsWith("transfer") ? "1\r\nx\r\n" : "x");
  expect(await answer).toBe("too_slow");
  socket.destroy();
});

test("one that keeps coming is waited for, though not for ever", async () => {
  const slow = begin("content-length: 200000");
  const sent = setInterval(() => slow.socket.write("x"), IDLE_MS / 10);
  const began = performance.now();
  expect(await slow.answer).toBe("too_slow");
  expect(performance.now() - began).toBeGreaterThan(2 * IDLE_MS);
  clearInterval(sent);
  slow.socket.destroy();
});

test("one that comes is read, whole and in pieces, up to its bound", async () => {
  expect(await begin("content-length: 3", "abc").answer).toBe("3 bytes");
  expect(await begin("content-length: 200000", "x".repeat(200_000)).answer).toBe("200000 bytes");
  expect(await begin("content-length: 0", "").answer).toBe("0 bytes");
  expect(await begin("content-length: 2000000", "").answer).toBe("too_large");
  expect(await begin("transfer-encoding: chunked", `200000\r\n${"x".repeat(0x200000)}\r\n`).answer).toBe("too_large");
});

test("strangers of one address keep few waited for, and known callers are not counted", async () => {
  const waiting = [begin("content-length: 100"), begin("content-length: 100")];
  // Both are there once a third is refused.
  for (;;) if ((await begin("content-length: 1", "x").answer) === "too_many") break;
  expect(await begin("x-known: yes\r\ncontent-length: 1", "x").answer).toBe("1 bytes");
  for (const { answer, socket } of waiting) {
    expect(await answer).toBe("too_slow");
    socket.destroy();
  }
  expect(await begin("content-length: 1", "x").answer).toBe("1 bytes");
});

test("bodies that hold too much are given up, and only those of the sender that holds most", async () => {
  const header = (sender: string) => `x-known: ${sender}\r\ncontent-length: 800000`;
  const other = begin(header("other"), "x".repeat(100_000));
  const greedy: Sender[] = [];
  for (let i = 0; i < 4; i++) {
    const sender = begin(header("greedy"), "x".repeat(700_000));
    greedy.push(sender);
  }
  expect(await Promise.race(greedy.map(({ answer }) => answer))).toBe("too_many");
  other.socket.write("x".repeat(700_000));
  expect(await other.answer).toBe("800000 bytes");
  for (const { socket } of [other, ...greedy]) socket.destroy();
});

test("a body as large as one may be is read in the smallest of many processes", async () => {
  const mostOfABody = 200_000;
  const small = new ArrivingBodies({ mostBytes: bodyShare(1_000_000, 8, mostOfABody) });
  const read = (body: string) => small.read(new Request("http://gateway", { method: "POST", body }), mostOfABody, null, "tenant");
  expect(await read("x".repeat(mostOfABody))).toHaveLength(mostOfABody);
});
