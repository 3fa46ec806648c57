import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { bodyShare } from "../../kernel/configuration/group-size.ts";
import { serve, type Serving } from "../../runtime/serve.ts";
import { ArrivingBodies } from "./arriving-bodies.ts";

const IDLE_MS = 300;
const PLACE = "192.0.2.1";

const MAX = { mostOfAPlace: 2, mostBytes: 2_000_000 };

let serving: Serving;
/** A server for cases that do not depend on idle timeouts. */
let patient: Serving;

const served = (bodies: ArrivingBodies): Serving =>
  serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const known = request.headers.get("x-known");
      const place = request.headers.get("x-place") ?? PLACE;
      const read = await bodies.read(request, 1024 * 1024, known === null ? place : null, known ?? undefined).catch(() => "broken");
      return new Response(typeof read === "string" ? read : `${read.byteLength} bytes`);
    },
    onError: (error) => new Response(error.message),
  });

beforeAll(() => {
  serving = served(new ArrivingBodies({ ...MAX, idleMs: IDLE_MS, wholeMs: 4 * IDLE_MS }));
  patient = served(new ArrivingBodies(MAX));
});
afterAll(() => Promise.all([serving, patient].map((server) => server.stop({ graceSeconds: 0 }))));

interface Sender {
  readonly socket: Socket;
  /** The body of the answer. */
  readonly answer: Promise<string>;
}

function begin(server: Serving, headers: string, firstBytes = "x"): Sender {
  const { promise: answer, resolve } = Promise.withResolvers<string>();
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n${firstBytes}`);
  let received = "";
  socket.on("data", (piece) => {
    received += String(piece);
    const body = bodyOf(received);
    if (body !== null) resolve(body);
  });
  return { socket, answer };
}

/** The body of an answer, or its first chunk: an answer to an upload that has not ended may come in chunks. Null until it is there. */
function bodyOf(received: string): string | null {
  const [head = "", rest] = received.split(/\r\n\r\n([\s\S]*)/);
  if (rest === undefined) return null;
  if (!/^transfer-encoding: chunked$/im.test(head)) return rest === "" ? null : rest;
  return /^[\da-f]+\r\n([\s\S]*?)\r\n/i.exec(rest)?.[1] ?? null;
}

test.each([
  ["small", "content-length: 100"],
  ["large", "content-length: 200000"],
  ["chunked", "transfer-encoding: chunked"],
])("a %s request body that stops arriving is refused as too slow", async (_what, header) => {
  const { answer, socket } = begin(serving, header, header.startsWith("transfer") ? "1\r\nx\r\n" : "x");
  expect(await answer).toBe("too_slow");
  socket.destroy();
});

test("a request body that keeps arriving is waited for, up to a total time", async () => {
  const slow = begin(serving, "content-length: 200000");
  const sent = setInterval(() => slow.socket.write("x"), IDLE_MS / 10);
  const began = performance.now();
  expect(await slow.answer).toBe("too_slow");
  expect(performance.now() - began).toBeGreaterThan(2 * IDLE_MS);
  clearInterval(sent);
  slow.socket.destroy();
});

test("a request body is read, in one or several pieces, up to its size limit", async () => {
  expect(await begin(serving, "content-length: 3", "abc").answer).toBe("3 bytes");
  expect(await begin(serving, "x-known: yes\r\ncontent-length: 200000", "x".repeat(200_000)).answer).toBe("200000 bytes");
  expect(await begin(serving, "content-length: 0", "").answer).toBe("0 bytes");
  expect(await begin(serving, "content-length: 2000000", "").answer).toBe("too_large");
  expect(await begin(serving, "x-known: yes\r\ntransfer-encoding: chunked", `200000\r\n${"x".repeat(0x200000)}\r\n`).answer).toBe(
    "too_large",
  );
});

test("pending request bodies from one unknown address are limited, those of known callers are not", async () => {
  const waiting = [begin(serving, "content-length: 100"), begin(serving, "content-length: 100")];
  // Both are being held by the time a third is refused.
  for (;;) if ((await begin(serving, "content-length: 1", "x").answer) === "too_many") break;
  expect(await begin(serving, "x-known: yes\r\ncontent-length: 1", "x").answer).toBe("1 bytes");
  for (const { answer, socket } of waiting) {
    expect(await answer).toBe("too_slow");
    socket.destroy();
  }
  expect(await begin(serving, "content-length: 1", "x").answer).toBe("1 bytes");
});

test("if pending request bodies use too much memory, those of the sender that holds most are aborted", async () => {
  const header = (sender: string) => `x-known: ${sender}\r\ncontent-length: 800000`;
  const other = begin(patient, header("other"), "x".repeat(100_000));
  const greedy: Sender[] = [];
  for (let i = 0; i < 4; i++) greedy.push(begin(patient, header("greedy"), "x".repeat(700_000)));
  expect(await Promise.race(greedy.map(({ answer }) => answer))).toBe("too_many");
  other.socket.write("x".repeat(700_000));
  expect(await other.answer).toBe("800000 bytes");
  for (const { socket } of [other, ...greedy]) socket.destroy();
});

test("pending request bodies from many unknown addresses displace one another, but none of a known sender", async () => {
  const known = begin(patient, "x-known: known\r\ncontent-length: 800000", "x".repeat(700_000));
  const strangers: Sender[] = [];
  for (let i = 0; i < 40; i++) strangers.push(begin(patient, `x-place: 192.0.2.${i}\r\ncontent-length: 65000`));
  expect(await Promise.race(strangers.map(({ answer }) => answer))).toBe("too_many");
  known.socket.write("x".repeat(100_000));
  expect(await known.answer).toBe("800000 bytes");
  // A sender that holds less than the others gets through.
  expect(await begin(patient, "x-place: 198.51.100.1\r\ncontent-length: 3", "abc").answer).toBe("3 bytes");
  for (const { socket } of [known, ...strangers]) socket.destroy();
});

test("a request body of the maximum size is read even with the smallest share of many processes", async () => {
  const mostOfABody = 200_000;
  const small = new ArrivingBodies({ mostBytes: bodyShare(1_000_000, 8, mostOfABody) });
  const read = (body: string) => small.read(new Request("http://gateway", { method: "POST", body }), mostOfABody, null, "tenant");
  expect(await read("x".repeat(mostOfABody))).toHaveLength(mostOfABody);
});
