import { afterAll, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { outbound } from "../../runtime/outbound.ts";
import { pageFetch } from "./fetch-page.ts";

let site: ReturnType<typeof Bun.serve>;
const hosts: string[] = [];

beforeAll(() => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname, port } = new URL(request.url);
      hosts.push(request.headers.get("host") ?? "");
      if (pathname === "/robots.txt")
        return (request.headers.get("host") ?? "").startsWith("large-")
          ? new Response(`User-agent: *\nDisallow: /closed\n${"#".repeat(500_000)}`)
          : new Response("", { status: 404 });
      if (pathname === "/rebinds") return new Response(null, { status: 302, headers: { location: `http://rebinding.test:${port}/x` } });
      if (pathname === "/bomb")
        return new Response(gzipSync(Buffer.alloc(50 * 1024 * 1024)), {
          headers: { "content-type": "text/plain", "content-encoding": "gzip" },
        });
      return new Response("read", { headers: { "content-type": "text/plain" } });
    },
  });
});
afterAll(() => site.stop(true));

/** A name that resolves to a public address first, and to a private one from then on. */
function rebinding() {
  let looks = 0;
  const resolve = async (host: string) => (host === "rebinding.test" && looks++ > 0 ? ["10.0.0.1"] : ["127.0.0.1"]);
  return outbound({ allowPrivate: false, resolve, isDenied: (address) => address !== "127.0.0.1" });
}

const fetcher = (out = rebinding()) => pageFetch({ outbound: out, now: () => 0, ports: new Set([String(site.port)]) });
const read = (path: string, refused: (address: URL) => string | null = () => null, fetch = fetcher()) =>
  fetch(new URL(`http://site.test:${site.port}${path}`), refused, new AbortController().signal);

test("a redirect to a host that resolves to a private address on its second lookup is not followed", async () => {
  expect(await read("/rebinds")).toContain("not on the public internet");
});

test("a response that decompresses to more than 5 MB is refused", async () => {
  expect(await read("/bomb")).toContain("larger than 5 MB");
});

test("every redirect target is checked, and nothing is sent to a refused one", async () => {
  const before = hosts.length;
  expect(await read("/rebinds", ({ hostname }) => (hostname === "rebinding.test" ? "Not there." : null))).toContain("Not there.");
  expect(hosts.slice(before).some((host) => host.startsWith("rebinding.test"))).toBe(false);
  expect(await read("/page")).toMatchObject({ type: "text/plain" });
});

test("robots.txt files are cached within a size limit", async () => {
  const fetch = fetcher(outbound({ allowPrivate: false, resolve: async () => ["127.0.0.1"], isDenied: () => false }));
  const asked = async (name: string) => {
    const before = hosts.length;
    await fetch(new URL(`http://${name}.test:${site.port}/page`), () => null, new AbortController().signal);
    return hosts.length - before;
  };
  expect([await asked("large-0"), await asked("large-0")]).toEqual([2, 1]);
  for (let i = 1; i <= 20; i++) expect(await asked(`large-${i}`)).toBe(2);
  expect([await asked("large-20"), await asked("large-0")]).toEqual([1, 2]);
});
