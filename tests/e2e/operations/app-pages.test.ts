import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { withAppPages } from "../../../server/surfaces/pages/app-pages.ts";

let dist: string;
let plane: (request: Request, info: null) => Response | Promise<Response>;

beforeAll(() => {
  dist = mkdtempSync(join(tmpdir(), "gatehouse-pages-"));
  mkdirSync(join(dist, "portal", "assets"), { recursive: true });
  writeFileSync(join(dist, "secret.js"), "not of the app");
  writeFileSync(join(dist, "portal", "index.html"), "<!doctype html>page");
  writeFileSync(join(dist, "portal", "favicon.svg"), "<svg/>");
  writeFileSync(join(dist, "portal", "assets", "a-1.js"), "let a");
  writeFileSync(join(dist, "portal", "assets", "a-1.js.gz"), gzipSync("let a"));
  plane = withAppPages("portal", () => new Response("the plane"), {
    dist,
    toolAppDomains: ["https://api.example", "https://*.cdn.example"],
  });
});
afterAll(() => rmSync(dist, { recursive: true }));

const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
  plane(new Request(`http://gateway${path}`, { headers, method }), null) as Promise<Response>;

test("a browser at / is redirected to the app, and other clients are not", async () => {
  const browser = await get("/", { accept: "text/html,*/*" });
  expect([browser.status, browser.headers.get("location")]).toEqual([302, "/portal/"]);
  expect(await (await get("/", { accept: "*/*" })).text()).toBe("the plane");
  expect(await (await get("/v1/models")).text()).toBe("the plane");
  expect(await (await get("/portals")).text()).toBe("the plane");
});

test("every view of the app is its page, with no-store and security headers", async () => {
  for (const path of ["/portal/", "/portal/chat/01ABC", "/portal/a.b"]) {
    const page = await get(path);
    expect([page.status, await page.text(), page.headers.get("cache-control")]).toEqual([200, "<!doctype html>page", "no-store"]);
    expect(page.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
    expect(page.headers.get("content-security-policy")).toStartWith("default-src 'none'; script-src 'self'; style-src 'self';");
    for (const [name, value] of [
      ["x-content-type-options", "nosniff"],
      ["referrer-policy", "same-origin"],
      ["cross-origin-opener-policy", "same-origin"],
    ] as const)
      expect(page.headers.get(name)).toBe(value);
  }
});

test("a file with a hash in its name is cacheable for good, and compressed if accepted", async () => {
  const packed = await get("/portal/assets/a-1.js", { "accept-encoding": "gzip, br" });
  expect([packed.headers.get("content-encoding"), packed.headers.get("cache-control")]).toEqual([
    "gzip",
    "public, max-age=31536000, immutable",
  ]);
  const plain = await get("/portal/assets/a-1.js", { "accept-encoding": "gzip;q=0" });
  expect([await plain.text(), plain.headers.get("content-encoding")]).toEqual(["let a", null]);
});

test("a missing file gets 404, and nothing outside the app is served", async () => {
  for (const path of ["/portal/assets/b-2.js", "/portal/missing.js", "/portal/..%2fsecret.js", "/portal/assets/..%2f..%2fsecret.js"])
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  for (const path of ["/portal/assets/../../secret.js", "/portal/%2e%2e/secret.js"])
    expect(await (await get(path)).text()).not.toBe("not of the app");
});

test("pages accept GET and HEAD only", async () => {
  expect((await get("/portal/", {}, "POST")).status).toBe(405);
  const head = await get("/portal/", {}, "HEAD");
  expect([head.status, await head.text()]).toEqual([200, ""]);
});

test("the sandbox frame of a tool's UI has an opaque origin and no network", async () => {
  const page = await get("/portal/sandbox");
  const policy = page.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("sandbox allow-scripts");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("allow-same-origin");
  expect(policy).not.toContain("connect-src");
});

test("the sandbox frame of a tool's UI may reach only requested hosts that an administrator allows", async () => {
  const asked = [
    ["connect", "https://api.example"],
    ["connect", "https://other.example"],
    ["connect", "wss://api.example"],
    ["resource", "https://a.cdn.example"],
    ["resource", "https://evilcdn.example"],
    ["resource", "https://x.cdn.example; script-src *"],
  ];
  const policy = (await get(`/portal/sandbox?${new URLSearchParams(asked)}`)).headers.get("content-security-policy") ?? "";
  expect(policy).toContain("connect-src https://api.example;");
  expect(policy).toContain("img-src data: blob: https://a.cdn.example;");
  expect(policy).not.toMatch(/other|wss|evil|script-src \*/);
});
