import { expect, test } from "bun:test";
import { sessionCookieOf, sessionCookieSet } from "./session-cookie.ts";

const COOKIE = { name: "gw_portal_session", path: "/v1/portal/auth/session" };
const asked = (headers: Record<string, string>, publicUrl: string | null) => ({
  request: { url: "http://10.0.0.7:8080/v1/portal/auth/session", headers: new Headers(headers) },
  publicUrl,
});

test.each<[what: string, headers: Record<string, string>, publicUrl: string | null, isHttps: boolean]>([
  ["a proxy forwards HTTPS", { "x-forwarded-proto": "https, http", host: "ai.example" }, null, true],
  ["the host is that of the public URL", { host: "ai.example" }, "https://ai.example", true],
  ["the forwarded host is that of the public URL", { "x-forwarded-host": "ai.example", host: "10.0.0.7:8080" }, "https://ai.example", true],
  ["the host is another than that of the public URL", { host: "10.0.0.7:8080" }, "https://ai.example", false],
  ["the public URL has no https", { host: "ai.example" }, "http://ai.example", false],
])(
  "the session cookie has the __Host- prefix if the site uses HTTPS: %s (headers %p, public URL %p): %p",
  (_what, headers, publicUrl, isHttps) => {
    const set = sessionCookieSet(COOKIE, "value", asked(headers, publicUrl));
    expect(set.startsWith("__Host-gw_portal_session=value; Path=/; ")).toBe(isHttps);
    expect(set.includes("; Secure")).toBe(isHttps);
    const both = "gw_portal_session=plain; __Host-gw_portal_session=bound";
    expect(sessionCookieOf(COOKIE, asked({ ...headers, cookie: both }, publicUrl))).toBe(isHttps ? "bound" : "plain");
  },
);
