import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { PATIENCE_MS } from "../../tests/support/patience.ts";
import { goesByProxy } from "./by-proxy.ts";

const PROXY = "http://127.0.0.1:9";

/** A process of its own, because Bun reads some of these variables at its start. Prints what the upstream and the proxy received. */
const PROGRAM = `
  const { outbound } = await import(${JSON.stringify(new URL("outbound.ts", import.meta.url).href)});
  const server = (name) => Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => new Response(name + " " + new URL(request.url).hostname) });
  const [upstream, proxy] = [server("upstream"), server("proxy")];
  for (const name of (process.env.PROXY_IN ?? "").split(",")) process.env[name] = "http://127.0.0.1:" + proxy.port;
  const checked = outbound({ allowPrivate: false, resolve: async () => ["127.0.0.1"], isDenied: () => false });
  const answer = await checked.fetch("http://upstream.invalid:" + upstream.port + "/", { method: "GET", headers: {}, abort: new AbortController(), timeoutMs: 5_000 });
  console.log(await answer.text());
  process.exit(0);
`;

/** Prints what the proxy received, or why nothing was sent. */
const UNRESOLVED = `
  const { outbound } = await import(${JSON.stringify(new URL("outbound.ts", import.meta.url).href)});
  const { goesByProxy } = await import(${JSON.stringify(new URL("by-proxy.ts", import.meta.url).href)});
  const proxy = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => new Response("proxy " + new URL(request.url).hostname) });
  process.env.HTTP_PROXY = "http://127.0.0.1:" + proxy.port;
  const resolve = () => Promise.reject(new Error("no DNS here"));
  const isLeftToProxy = process.env.LEFT === "yes" ? (to) => goesByProxy(to) : undefined;
  const client = outbound({ allowPrivate: false, resolve, ...(isLeftToProxy && { isLeftToProxy }) });
  const init = { method: "GET", headers: {}, abort: new AbortController(), timeoutMs: 5_000 };
  const answer = await client.fetch(process.env.TO, init).then((given) => given.text(), (error) => error.message);
  console.log(answer);
  process.exit(0);
`;

const BEFORE = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name)));

function asked(env: Record<string, string>, program = PROGRAM): string {
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", program], {
    encoding: "utf8",
    timeout: PATIENCE_MS,
    env: { ...BEFORE, ...env },
  });
  return stdout.trim() || stderr;
}

describe("a request of plain HTTP to a named host", () => {
  test.each([
    ["HTTPS_PROXY alone", { HTTPS_PROXY: PROXY }],
    ["a proxy that NO_PROXY excludes the host from", { HTTP_PROXY: PROXY, NO_PROXY: "other.example, upstream.invalid" }],
    ["a proxy that NO_PROXY excludes the host's domain from", { PROXY_IN: "ALL_PROXY", NO_PROXY: ".invalid" }],
    ["a proxy that NO_PROXY excludes the host in brackets from", { HTTP_PROXY: PROXY, NO_PROXY: "[upstream.invalid]" }],
    ["a proxy that is a pair of quotes", { HTTP_PROXY: '""' }],
  ])("goes to the address that was checked, with %s", (_, env) => {
    expect(asked(env as Record<string, string>)).toBe("upstream upstream.invalid");
  });

  test.each(["HTTP_PROXY", "http_proxy", "ALL_PROXY"])("goes to the proxy by name, with %s", (name) => {
    expect(asked({ PROXY_IN: name })).toBe("proxy upstream.invalid");
  });
});

test.each([
  ["https://a.example/", { HTTPS_PROXY: PROXY }, true],
  ["https://a.example/", { http_proxy: PROXY }, false],
  ["http://a.example/", { HTTPS_PROXY: PROXY }, false],
  ["http://a.example/", { http_proxy: "", HTTP_PROXY: PROXY }, true],
  ["https://a.example/", { all_proxy: PROXY }, true],
  ["https://a.example/", { HTTPS_PROXY: PROXY, NO_PROXY: "*" }, false],
  ["https://a.example/", { HTTPS_PROXY: PROXY, NO_PROXY: "A.EXAMPLE" }, false],
  ["https://a.example./", { HTTPS_PROXY: PROXY, NO_PROXY: "a.example" }, false],
  ["https://b.a.example/", { HTTPS_PROXY: PROXY, NO_PROXY: "x *.a.example" }, false],
  ["https://a.example/", { HTTPS_PROXY: PROXY, NO_PROXY: "a.example:443" }, false],
  ["https://a.example/", { HTTPS_PROXY: PROXY, NO_PROXY: "[a.example]:443" }, false],
  ["https://a.example/", { HTTPS_PROXY: PROXY, NO_PROXY: "a.example:0443" }, false],
  ["https://a.example/", { https_proxy: "''", HTTPS_PROXY: PROXY }, false],
  ["https://a.example:8443/", { HTTPS_PROXY: PROXY, NO_PROXY: "a.example:443,b.example" }, true],
  ["https://ba.example/", { HTTPS_PROXY: PROXY, no_proxy: "a.example" }, true],
])("%s with %j goes by a proxy: %p", (url, env, expected) => {
  expect(goesByProxy(new URL(url), env as Record<string, string>)).toBe(expected);
});

test.each([
  ["goes to the proxy unresolved if names are left to it", "http://upstream.example/", { LEFT: "yes" }, "proxy upstream.example"],
  ["fails without DNS if names are not left to the proxy", "http://upstream.example/", {}, "no DNS here"],
  [
    "fails without DNS if it does not go by a proxy",
    "http://upstream.example/",
    { LEFT: "yes", NO_PROXY: "upstream.example" },
    "no DNS here",
  ],
  ["fails if the proxy could take the name for its own machine", "http://api.localhost./", { LEFT: "yes" }, "no DNS here"],
  ["is refused for a private address", "http://169.254.169.254/", { LEFT: "yes" }, "169.254.169.254 is in a private address range"],
  ["is refused for a private address in another form", "http://0x7f.1/", { LEFT: "yes" }, "127.0.0.1 is in a private address range"],
])("a request %s", (_what, to, env, expected) => {
  expect(asked({ ...env, TO: to }, UNRESOLVED)).toBe(expected);
});
