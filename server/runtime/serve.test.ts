import { afterEach, describe, expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { waitsForOthers } from "../kernel/scheduling/waiting-answers.ts";
import { ListenError, type ServeOptions, type Serving, serve } from "./serve.ts";

let serving: Serving | undefined;

afterEach(async () => {
  await serving?.stop({ graceSeconds: 0 });
  serving = undefined;
});

function start(fetch: ServeOptions["fetch"]): Serving {
  serving = serve({ hostname: "127.0.0.1", port: 0, fetch, onError: () => new Response("failed", { status: 500 }) });
  return serving;
}

const encode = (text: string) => new TextEncoder().encode(text);

/** A client that sends one request and does not read until told to. */
async function rawClient(port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
  return socket;
}

describe("a client that disconnects", () => {
  test("aborts the request that waits for an answer", async () => {
    const arrived = Promise.withResolvers<Request>();
    const { url } = start((request) => {
      arrived.resolve(request);
      return new Promise<Response>(() => {});
    });
    const client = new AbortController();
    const call = fetch(url, { signal: client.signal }).catch(() => "gone");
    const { signal } = await arrived.promise;
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    client.abort();
    await aborted;
    expect(await call).toBe("gone");
  });

  test("aborts the request and cancels the body during a stream", async () => {
    const aborted = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const { url } = start((request) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      return new Response(
        new ReadableStream({ start: (controller) => controller.enqueue(encode("data: 1\n\n")), cancel: () => cancelled.resolve() }),
        { headers: { "content-type": "text/event-stream" } },
      );
    });
    const client = new AbortController();
    const reader = (await fetch(url, { signal: client.signal })).body?.getReader();
    await reader?.read();
    client.abort();
    await Promise.all([aborted.promise, cancelled.promise]);
  });
});

test("a client that does not read slows down the stream instead of filling memory", async () => {
  const piece = new Uint8Array(64 * 1024);
  let pulled = 0;
  let lastPull = performance.now();
  const { port } = start(
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            pulled += 1;
            lastPull = performance.now();
            controller.enqueue(piece.slice());
          },
        }),
      ),
  );
  const client = await rawClient(port);
  while (pulled === 0 || performance.now() - lastPull < 200) await new Promise((resolve) => setTimeout(resolve, 20));
  // Bounded by the two socket buffers, rather than an endless stream in memory.
  expect(pulled * piece.byteLength).toBeLessThan(32 * 1024 * 1024);
  client.destroy();
});

test("a response that waits for others is exempt from the idle timeout, and closes once it has ended", async () => {
  const told = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  serving = serve({
    hostname: "127.0.0.1",
    port: 0,
    idleSeconds: 1,
    onError: () => new Response("failed", { status: 500 }),
    fetch(request) {
      if (request.url.endsWith("/own")) return new Response("own");
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(encode("begun"));
          asked.resolve();
          await told.promise;
          controller.enqueue(encode("told"));
          controller.close();
        },
      });
      return waitsForOthers(new Response(body), told.promise);
    },
  });
  const client = async (path: string) => {
    const socket = connect(serving?.port as number, "127.0.0.1");
    let answer = "";
    socket.on("data", (piece: Buffer) => (answer += piece.toString()));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.once("close", () => resolve());
    return { closed, answer: () => answer };
  };
  const waiting = await client("/waits");
  await asked.promise;
  // Connections opened later and closed as idle in the meantime were silent for a shorter time.
  for (let turn = 0; turn < 2; turn++) {
    const idle = await client("/own");
    await idle.closed;
    expect(idle.answer()).toContain("own");
  }
  told.resolve();
  await waiting.closed;
  expect(waiting.answer()).toEndWith("5\r\nbegun\r\n4\r\ntold\r\n0\r\n\r\n");
});

describe("stopping the server", () => {
  test("lets a stream finish, and refuses new connections", async () => {
    const release = Promise.withResolvers<void>();
    const { url, stop } = start(
      () =>
        new Response(
          new ReadableStream({
            async start(controller) {
              controller.enqueue(encode("begun "));
              await release.promise;
              controller.enqueue(encode("ended"));
              controller.close();
            },
          }),
        ),
    );
    const response = await fetch(url);
    const stopped = stop({ graceSeconds: 10 });
    await expect(fetch(url, { keepalive: false })).rejects.toThrow();
    release.resolve();
    expect(await response.text()).toBe("begun ended");
    await stopped;
  });

  test("delivers a large response to a slow reader", async () => {
    const size = 24 * 1024 * 1024;
    const { port, stop } = start(() => new Response(new Uint8Array(size)));
    const client = await rawClient(port);
    const first = new Promise((resolve) => client.once("readable", resolve));
    await first;
    const stopped = stop({ graceSeconds: 10 });
    let read = 0;
    client.on("data", (piece: Buffer) => (read += piece.byteLength));
    client.resume();
    await stopped;
    await new Promise((resolve) => (client.closed ? resolve(null) : client.once("close", resolve)));
    expect(read).toBeGreaterThan(size);
  });

  test("closes connections that outlast the grace period", async () => {
    const { url, stop } = start(() => new Promise<Response>(() => {}));
    const call = fetch(url).catch(() => "closed");
    await stop({ graceSeconds: 0.05 });
    expect(await call).toBe("closed");
  });
});

test("bodies of any size reach the application, which enforces its own limit", async () => {
  const { url } = start(async (request, { ip }) => Response.json({ bytes: (await request.arrayBuffer()).byteLength, ip }));
  const response = await fetch(url, { method: "POST", body: "x".repeat(2048) });
  expect(await response.json()).toEqual({ bytes: 2048, ip: "127.0.0.1" });
});

test.each(["", "Host: gateway.example\r\n"])("an HTTP/1.0 request keeps its path and body, with these headers: %j", async (host) => {
  const { port } = start(async (request) => Response.json([request.method, new URL(request.url).pathname, await request.text()]));
  const socket = connect(port, "127.0.0.1");
  socket.write(`POST /healthz?a=1 HTTP/1.0\r\n${host}Content-Length: 5\r\n\r\nhello`);
  let answer = "";
  for await (const piece of socket) {
    answer += piece;
    if (answer.endsWith("]")) break;
  }
  expect(answer).toStartWith("HTTP/1.1 200 OK");
  expect(answer).toEndWith('["POST","/healthz","hello"]');
});

test.skipIf(process.platform !== "linux")("a connection that waits for its answer is probed", async () => {
  const asked = Promise.withResolvers<void>();
  const { port } = start(() => (asked.resolve(), new Promise<Response>(() => undefined)));
  const socket = await rawClient(port);
  await asked.promise;
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const established = (await readFile("/proc/self/net/tcp", "utf8"))
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address, , state]) => address?.endsWith(local) === true && state === "01");
  // The kind of the socket's timer, 2 for keep-alive, and the hundredths of a second until it is due.
  const [kind, due] = (established[0]?.[5] ?? "").split(":");
  expect(kind).toBe("02");
  expect(Number.parseInt(due as string, 16)).toBeLessThanOrEqual(3_000);
  socket.destroy();
});

test("an exception becomes the application's error response", async () => {
  const { url } = start(() => {
    throw new Error("a bug");
  });
  const response = await fetch(url);
  expect([response.status, await response.text()]).toEqual([500, "failed"]);
});

test("a port in use is reported in one line", () => {
  const { port } = start(() => new Response());
  expect(() => serve({ hostname: "127.0.0.1", port, fetch: () => new Response(), onError: () => new Response() })).toThrow(
    new ListenError(
      `127.0.0.1:${port} is in use by another process: stop that one, or give this one another GW_RUNTIME_PORT or GW_ADMIN_PORT`,
    ),
  );
});
