import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { DepartingBodies } from "./departing-body.ts";
import { outbound } from "./outbound.ts";

let server: ReturnType<typeof Bun.serve>;
/** Accepts connections and says nothing on them. */
let mute: Server;
let muteUrl: string;

beforeAll(async () => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { headers } = request;
      return Response.json([headers.get("content-length"), headers.get("transfer-encoding"), await request.text()]);
    },
  });
  mute = createServer(() => undefined);
  await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
  muteUrl = `127.0.0.1:${(mute.address() as { port: number }).port}`;
});
afterAll(async () => {
  mute.close();
  await server.stop(true);
});

async function sending(url: string, body: string, client = outbound({ allowPrivate: true })) {
  let departures = 0;
  const init = { method: "POST", headers: {}, body, abort: new AbortController(), timeoutMs: 300, departed: () => void (departures += 1) };
  const response = await client.fetch(url, init).catch(() => null);
  return { departures, said: response === null ? null : await response.json() };
}

test.each([
  ["one that answers", () => `http://127.0.0.1:${server.port}/`, 1],
  ["one that is silent", () => `http://${muteUrl}/`, 1],
  ["one that never completes the TLS handshake", () => `https://${muteUrl}/`, 0],
  ["one that refuses connections", () => "http://127.0.0.1:1/", 0],
  ["a name that does not exist", () => "http://nowhere.invalid/", 0],
])("a request departs only on an established connection: %s", async (_name, url, departures) => {
  expect(await sending(url(), "x")).toMatchObject({ departures });
});

test.each(["", "ä", "x".repeat(300_000)])("a watched body arrives whole and with its length", async (body) => {
  const { said } = await sending(`http://127.0.0.1:${server.port}/`, body);
  expect(said).toEqual([String(Buffer.byteLength(body)), null, body]);
});

test("a body is not watched for a second after its host has answered", () => {
  let now = 0;
  const bodies = new DepartingBodies(() => now);
  const isWatched = (url: string) => bodies.of(url, "x", {}, () => undefined).isWatched;
  expect(isWatched("https://one.example/a")).toBe(true);
  bodies.answered("https://one.example/a");
  expect([isWatched("https://one.example/b?c"), isWatched("https://two.example/a")]).toEqual([false, true]);
  now = 1_000;
  expect(isWatched("https://one.example/a")).toBe(true);
});

test("a request whose body is not watched counts as departed if its host falls silent", async () => {
  const requests: unknown[] = [];
  const falling = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", () => {
      if (requests.push(null) === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]");
    });
  });
  await new Promise<void>((resolve) => falling.listen(0, "127.0.0.1", resolve));
  const client = outbound({ allowPrivate: true });
  const url = `http://127.0.0.1:${(falling.address() as { port: number }).port}/`;
  await sending(url, "x", client);
  expect(await sending(url, "x", client)).toEqual({ departures: 1, said: null });
  falling.close();
});
