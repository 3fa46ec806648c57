import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import { urlAnalyzer } from "./url.ts";

const isPrivate = (url: string) => {
  const findings = urlAnalyzer.inspect(url);
  return findings.unparseable !== null || findings.holds("private_address", []);
};
const holds = (url: string, rule: "host_denied" | "host_not_allowed" | "scheme_not_allowed" | "userinfo", values: string[] = []) =>
  urlAnalyzer.inspect(url).holds(rule, values);

const PRIVATE_V4 = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127), fc.nat(255), fc.nat(255), fc.nat(255)),
  fc.tuple(fc.constant(192), fc.constant(168), fc.nat(255), fc.nat(255)),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), fc.nat(255), fc.nat(255)),
  fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), fc.nat(255), fc.nat(255)),
);
const PUBLIC_V4 = fc.tuple(fc.constantFrom(1, 8, 23, 52, 93, 151, 204, 223), fc.nat(255), fc.nat(255), fc.nat(255));

type Octets = [number, number, number, number];
const SPELLINGS: readonly ((octets: Octets) => string)[] = [
  (o) => o.join("."),
  (o) => String(o.reduce((sum, one) => sum * 256 + one, 0)),
  (o) => `0x${o.map((one) => one.toString(16).padStart(2, "0")).join("")}`,
  (o) => o.map((one) => `0${one.toString(8)}`).join("."),
  (o) => o.map((one) => `0x${one.toString(16)}`).join("."),
  ([a, b, c, d]) => `${a}.${b * 65_536 + c * 256 + d}`,
  (o) => `${o.join(".")}.`,
  (o) => o.join(".").replace(/\d/g, (digit) => `%3${digit}`),
  (o) => o.join("。"),
  (o) => `[::ffff:${o.join(".")}]`,
  ([a, b, c, d]) => `[::ffff:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}]`,
  ([a, b, c, d]) => `[64:ff9b::${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}]`,
  ([a, b, c, d]) => `[2002:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}::1]`,
];
const WRAPS: readonly ((host: string) => string)[] = [
  (host) => `http://${host}/`,
  (host) => `HTTPS://${host}:8443/a?b=c`,
  (host) => `//${host}/x`,
  (host) => `http://user:pw@${host}/`,
  (host) => `http://example.com@${host}`,
  (host) => `ftp://${host}`,
  (host) => `ws://${host}/#example.com`,
  (host) => `redis://${host}:6379/0`,
  (host) => `gopher://${host}/_x`,
  (host) => `http:${host}`,
  (host) => `URL:http://${host}/`,
  (host) => `url:URL:https:${host}`,
  (host) => `jar:http://${host}/a.jar!/b`,
  (host) => `jdbc:postgresql://${host}:5432/sales`,
  (host) => `http:///${host}/`,
  (host) => `http:\\\\${host}`,
];

describe("private addresses in URLs", () => {
  test("a private IPv4 address is found, however it is written", () => {
    fc.assert(
      fc.property(PRIVATE_V4, fc.constantFrom(...SPELLINGS), fc.constantFrom(...WRAPS), (octets, spell, wrap) =>
        isPrivate(wrap(spell(octets as Octets))),
      ),
      { numRuns: 3_000 },
    );
  });

  test("a public IPv4 address is not taken for a private one", () => {
    fc.assert(
      fc.property(PUBLIC_V4, fc.constantFrom(...SPELLINGS), (octets, spell) => !isPrivate(`https://${spell(octets as Octets)}/a`)),
      { numRuns: 1_000 },
    );
  });

  test("any text is read without an exception", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => typeof isPrivate(text) === "boolean"),
      { numRuns: 500 },
    );
  });

  for (const url of [
    "http://localhost",
    "localhost:8080/x",
    "LOCALHOST",
    "http://a.localhost.",
    "http://[::1]",
    "http://[::]",
    "http://[fe80::1]",
    "http://[fd00::1]",
    "http://[ff02::1]",
    "http://metadata.google.internal/",
    "http://metadata/",
    "http://printer.local",
    "file:///etc/passwd",
    "URL:file:/etc/passwd",
    "unix:/var/run/docker.sock",
    "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
    "npipe:////./pipe/docker_engine",
    "netdoc:/etc/passwd",
    "phar:///etc/passwd",
    "https://kubernetes.default.svc/api",
    "http://127.0.0.1.traefik.me",
    "http://127.1",
    "http://0",
    "http://10.0.0.1.nip.io",
    "http://localtest.me",
    "http://①②⑦.⓪.⓪.①",
    "http://168.63.129.16",
    "http://good.example\\@127.0.0.1",
    "http://good.example\t@127.0.0.1",
  ]) {
    test(`${url} is private or unreadable`, () => expect(isPrivate(url)).toBe(true));
  }

  for (const url of [
    "https://example.com",
    "example.com/path?q=1",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://www.10.com",
    "https://localhost.example.com",
    "https://münchen.example",
    "https://example.com/?next=http://127.0.0.1",
    "jdbc:postgresql://example.com:5432/sales",
    "urn:isbn:0451450523",
    "mailto:a@example.com",
    "data:text/plain,http://127.0.0.1",
  ]) {
    test(`${url} is public`, () => expect(isPrivate(url)).toBe(false));
  }
});

describe("rules on hosts and schemes", () => {
  test("a host matches as a whole, and a wildcard matches only its subdomains", () => {
    expect(holds("https://api.example.com", "host_denied", ["*.example.com"])).toBe(true);
    expect(holds("https://example.com", "host_denied", ["*.example.com"])).toBe(false);
    expect(holds("https://notexample.com", "host_denied", ["*.example.com", "example.com"])).toBe(false);
    expect(holds("https://EXAMPLE.com.", "host_denied", ["example.COM"])).toBe(true);
    expect(holds("https://example.com@evil.test", "host_not_allowed", ["example.com"])).toBe(true);
    expect(holds("https://example.com.evil.test", "host_not_allowed", ["example.com", "*.example.com"])).toBe(true);
    expect(holds("https://münchen.example", "host_denied", ["münchen.example"])).toBe(true);
    expect(holds("mailto:a@example.com", "host_not_allowed", ["*"])).toBe(true);
    expect(holds("URL:http://evil.test/", "host_denied", ["evil.test"])).toBe(true);
    expect(holds("URL:http://example.com/", "host_not_allowed", ["example.com"])).toBe(true);
  });

  test("schemes and credentials in a URL are recognised", () => {
    expect(holds("https://a.example", "scheme_not_allowed", ["https"])).toBe(false);
    expect(holds("a.example", "scheme_not_allowed", ["https"])).toBe(true);
    expect(holds("javascript:alert(1)", "scheme_not_allowed", ["http", "https:"])).toBe(true);
    expect(holds("https://u:p@a.example", "userinfo")).toBe(true);
    expect(holds("https://a.example/@b", "userinfo")).toBe(false);
    expect(holds("URL:https://u:p@a.example", "userinfo")).toBe(true);
    expect(holds("URL:https://a.example", "scheme_not_allowed", ["https"])).toBe(true);
  });

  test("a value that is not a URL is unreadable", () => {
    for (const value of ["", "  ", "http://", "http://a b", "http://[::1", 5, null, {}])
      expect(urlAnalyzer.inspect(value).unparseable).not.toBeNull();
  });
});

test("an overlong host is unreadable, and is rejected quickly", () => {
  const started = cpuMs();
  for (const long of [`${".".repeat(16_000)}a`, `${"%2e".repeat(5_000)}a`, `http://${"a.".repeat(500)}example`])
    expect(urlAnalyzer.inspect(long).unparseable).not.toBeNull();
  expect(cpuMs(started)).toBeLessThan(100);
  expect(urlAnalyzer.inspect(`http://${"a.".repeat(100)}example`).unparseable).toBeNull();
});
