import { afterEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { ArrivingBodies } from "../wire/http/arriving-bodies.ts";
import { keptBody } from "../kernel/http/kept-body.ts";
import { lingering, type LingeringBounds } from "./lingering-close.ts";
import { type Serving, serve } from "./serve.ts";

const KIB = 1024;
const PIECE = Buffer.alloc(64 * KIB, 120);
const BOUNDS: LingeringBounds = { smallBytes: 256 * KIB, mostBytes: 4096 * KIB, wholeMs: 30_000, idleMs: 30_000 };

let server: ReturnType<typeof Bun.serve> | undefined;
let serving: Serving | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.stop(true);
  await serving?.stop({ graceSeconds: 0 });
  server = serving = undefined;
});

/** How much of an upload is read: nothing, its beginning or as much as a limit allows. */
const READERS = {
  nothing: () => null,
  "its beginning": async (request: Request) => {
    const reader = keptBody(request.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
  },
  "up to a limit": async (request: Request) => new ArrivingBodies().read(request, 100 * KIB, null),
};

function start(bounds: Partial<LingeringBounds> = {}, reads: keyof typeof READERS = "nothing"): number {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: 120,
    async fetch(request) {
      await READERS[reads](request);
      return lingering(request, new Response("too large", { status: 413 }), { ...BOUNDS, ...bounds });
    },
  });
  return server.port as number;
}

function upload(port: number, framing: string) {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  const told = { sent: 0, answer: "" };
  const closed = new Promise<typeof told>((resolve) => socket.on("close", () => resolve(told)));
  socket.on("error", () => undefined);
  socket.on("data", (piece: Buffer) => (told.answer += piece.toString()));
  socket.write(`POST / HTTP/1.1\r\nHost: test\r\n${framing}\r\n\r\n`);
  return { socket, told, closed };
}

/** Sends for as long as the server takes it. */
async function sendOn({ socket, told }: ReturnType<typeof upload>, frame: (piece: Buffer) => Buffer | string = (piece) => piece) {
  while (!socket.destroyed && !socket.writableEnded) {
    const taken = socket.write(frame(PIECE));
    told.sent += PIECE.byteLength;
    if (!taken) await new Promise<void>((resolve) => void socket.once("drain", resolve).once("close", () => resolve()));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const CHUNK = (piece: Buffer) => `${piece.byteLength.toString(16)}\r\n${piece.toString("latin1")}\r\n`;

describe("an upload that goes on after its answer", () => {
  test.each(Object.keys(READERS) as (keyof typeof READERS)[])("is read up to a number of bytes, when %s of it was read", async (reads) => {
    const client = upload(start({}, reads), "Content-Length: 100000000000");
    await Promise.all([sendOn(client), client.closed]);
    expect(client.told.answer).toStartWith("HTTP/1.1 413");
    expect(client.told.answer).toContain("too large");
    expect(client.told.answer.toLowerCase()).toContain("connection: close");
    // Besides what is read, the buffers of both sockets take some.
    expect(client.told.sent).toBeLessThan(64 * 1024 * KIB);
  });

  test("is bounded without a declared length, too", async () => {
    const client = upload(start(), "Transfer-Encoding: chunked");
    await Promise.all([sendOn(client, CHUNK), client.closed]);
    expect(client.told.answer).toContain("too large");
    expect(client.told.sent).toBeLessThan(64 * 1024 * KIB);
  });

  test.each([
    ["when it pauses", { idleMs: 50 }],
    ["after a while", { wholeMs: 50 }],
  ])("is given up %s", async (_when, bounds) => {
    const client = upload(start(bounds), "Content-Length: 1000000");
    client.socket.write(PIECE);
    expect((await client.closed).answer).toEndWith("9\r\ntoo large\r\n0\r\n\r\n");
  });

  test("can be completed by a client that reads only afterwards", async () => {
    const { socket, closed } = upload(start(), `Content-Length: ${16 * PIECE.byteLength}`);
    socket.pause();
    for (let piece = 0; piece < 16; piece++) await new Promise((resolve) => socket.write(PIECE, resolve));
    socket.resume();
    expect((await closed).answer).toEndWith("9\r\ntoo large\r\n0\r\n\r\n");
  });

  test("is simply read if it is small, and the connection is kept", async () => {
    const { socket, told } = upload(start({ idleMs: 1 }), "Content-Length: 100000");
    await new Promise((resolve) => socket.once("data", resolve));
    expect(told.answer).toEndWith("Content-Length: 9\r\n\r\ntoo large");
    expect(told.answer.toLowerCase()).not.toContain("connection: close");
    socket.write("x".repeat(100_000));
    socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
    while (told.answer.split("HTTP/1.1 413").length < 3) await new Promise((resolve) => socket.once("data", resolve));
  });
});

test("a body that was read leaves its answer and connection alone", async () => {
  serving = serve({
    hostname: "127.0.0.1",
    port: 0,
    onError: () => new Response(null, { status: 500 }),
    fetch: async (request) => {
      const read = await new ArrivingBodies().read(request, 1024 * KIB, null);
      return new Response(String(read.length));
    },
  });
  const response = await fetch(serving.url, { method: "POST", body: "x".repeat(500 * KIB) });
  expect([response.headers.get("content-length"), response.headers.get("connection"), await response.text()]).toEqual([
    "6",
    null,
    String(500 * KIB),
  ]);
});
