import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { OutboundDenied } from "./destinations.ts";
import { outbound, OutboundTimeout } from "./outbound.ts";

describe("an outbound call", () => {
  let server: ReturnType<typeof Bun.serve>;
  beforeAll(() => {
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === "/redirect") return new Response(null, { status: 302, headers: { location: "http://127.0.0.1:1/" } });
        if (pathname === "/host") return new Response(`${request.headers.get("host")} ${request.headers.get("x-own")}`);
        // Bun looks for idle connections every four seconds.
        if (pathname === "/late") return Bun.sleep(10_000).then(() => new Response("late"));
        if (pathname === "/never") return new Promise<Response>(() => undefined);
        return new Response("ok");
      },
    });
  });
  afterAll(() => server.stop(true));
  const init = { method: "GET", headers: {}, timeoutMs: 5_000 };
  const abort = () => new AbortController();

  test("is refused for private addresses, also behind a host name", async () => {
    const closed = outbound({ allowPrivate: false, resolve: async () => ["93.184.216.34", "10.0.0.1"] });
    await expect(closed.fetch(`http://127.0.0.1:${server.port}/`, { ...init, abort: abort() })).rejects.toBeInstanceOf(OutboundDenied);
    await expect(closed.fetch("http://upstream.example/", { ...init, abort: abort() })).rejects.toBeInstanceOf(OutboundDenied);
    for (const host of ["::1", "2002:7f00:1::", "::7f00:1"])
      await expect(closed.fetch(`http://[${host}]:9/`, { ...init, abort: abort() })).rejects.toBeInstanceOf(OutboundDenied);
  });

  test("includes address resolution in its timeout, and can be aborted during it", async () => {
    const silent = outbound({ allowPrivate: false, resolve: () => new Promise(() => undefined) });
    await expect(silent.fetch("http://upstream.example/", { ...init, timeoutMs: 20, abort: abort() })).rejects.toBeInstanceOf(
      OutboundTimeout,
    );
    const hungUp = abort();
    const call = silent.fetch("http://upstream.example/", { ...init, abort: hungUp });
    hungUp.abort("client_disconnected");
    await expect(call).rejects.toBe("client_disconnected");
    await expect(silent.fetch("http://upstream.example/", { ...init, abort: hungUp })).rejects.toBe("client_disconnected");
  });

  test("goes to the address that was checked, with the original host name, and resolves it once", async () => {
    const looked: string[] = [];
    const resolve = async (host: string) => {
      looked.push(host);
      // Nothing listens at the address tried first.
      return ["::1", "127.0.0.2", "127.0.0.1"];
    };
    const named = outbound({ allowPrivate: false, resolve, isDenied: () => false });
    const response = await named.fetch(`http://upstream.invalid:${server.port}/host`, {
      ...init,
      headers: { "x-own": "kept" },
      abort: abort(),
    });
    expect([await response.text(), looked]).toEqual([`upstream.invalid:${server.port} kept`, ["upstream.invalid"]]);
  });

  test("verifies the upstream's certificate for its host name, not its address", async () => {
    const { promise: hello, resolve: said } = Promise.withResolvers<string>();
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket, bytes) {
          said(bytes.toString("latin1"));
          socket.end();
        },
      },
    });
    const named = outbound({ allowPrivate: false, resolve: async () => ["127.0.0.1"], isDenied: () => false });
    await expect(named.fetch(`https://upstream.invalid.:${listener.port}/`, { ...init, abort: abort() })).rejects.toThrow();
    expect(await hello).toMatch(/upstream\.invalid(?!\.)/);
    listener.stop(true);
  });

  test("never follows a redirect", async () => {
    const response = await outbound({ allowPrivate: true }).fetch(`http://127.0.0.1:${server.port}/redirect`, { ...init, abort: abort() });
    expect(response.status).toBe(302);
  });

  test("waits as long as its own timeout allows, not as long as Bun does", async () => {
    const program = `
      const { outbound } = await import(${JSON.stringify(`${import.meta.dir}/outbound.ts`)});
      const init = { method: "GET", headers: {}, abort: new AbortController(), timeoutMs: 60_000 };
      const response = await outbound({ allowPrivate: true }).fetch("http://127.0.0.1:${server.port}/late", init);
      process.stdout.write(await response.text());`;
    const env = { ...process.env, BUN_CONFIG_HTTP_IDLE_TIMEOUT: "1" };
    const { stdout } = Bun.spawn([process.execPath, "-e", program], { env, stderr: "inherit" });
    expect(await new Response(stdout).text()).toBe("late");
  });

  test("times out if the upstream is silent, and is aborted at once if the caller disconnects", async () => {
    const open = outbound({ allowPrivate: true });
    await expect(open.fetch(`http://127.0.0.1:${server.port}/never`, { ...init, timeoutMs: 30, abort: abort() })).rejects.toBeInstanceOf(
      OutboundTimeout,
    );
    const caller = new AbortController();
    const waiting = open.fetch(`http://127.0.0.1:${server.port}/never`, { ...init, abort: caller });
    caller.abort("client_disconnected");
    await expect(waiting).rejects.toBe("client_disconnected");
  });
});
