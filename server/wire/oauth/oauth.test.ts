import { describe, expect, test } from "bun:test";
import { cpuMs } from "../../../tests/support/processes/cpu-time.ts";
import fc from "fast-check";
import { readChallenge, parseScopes, writeChallenge } from "./challenge.ts";
import { authorizationServerUrls, covers, readAuthorizationServer, resourceMetadataUrls } from "./metadata.ts";
import { challengeOf, isChallenge, newVerifier } from "./pkce.ts";

const plain = fc.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]{1,40}$/);

describe("OAuth challenges", () => {
  test("are read back as written", () => {
    fc.assert(
      fc.property(fc.option(plain), fc.option(plain), fc.option(plain), (error, scope, resourceMetadata) => {
        expect(readChallenge(writeChallenge({ error, scope, resourceMetadata }))).toEqual({ error, scope, resourceMetadata });
      }),
    );
  });

  test("never let a scope break out of its quotes", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(writeChallenge({ error: null, scope: text, resourceMetadata: null })).toMatch(
          /^Bearer scope="[\x20\x21\x23-\x5b\x5d-\x7e]*"$/,
        );
      }),
    );
  });

  test.each([
    ['Bearer resource_metadata="https://a.example/x", scope="r w"', { error: null, scope: "r w", resourceMetadata: "https://a.example/x" }],
    ['Basic realm="x", Bearer error=invalid_token', { error: "invalid_token", scope: null, resourceMetadata: null }],
    ["bearer", { error: null, scope: null, resourceMetadata: null }],
    ['Bearer scope="a \\"quoted\\" one"', { error: null, scope: 'a "quoted" one', resourceMetadata: null }],
    ['Basic realm="Bearer"', null],
    ["", null],
  ])("are read from the header value: %s", (header, expected) => {
    expect(readChallenge(header)).toEqual(expected);
  });

  test("have each scope once, without invalid characters", () => {
    expect(parseScopes('read write read  a"b \u00e4 c\\d')).toEqual(["read", "write"]);
  });
});

describe("the server URLs that an OAuth resource covers", () => {
  test.each([
    ["https://a.example/mcp", "https://a.example/mcp", true],
    ["https://a.example", "https://a.example/mcp", true],
    ["https://a.example/", "https://a.example/mcp", true],
    ["https://a.example/mcp/", "https://a.example/mcp", true],
    ["https://a.example/mcp", "https://a.example/mcp2", false],
    ["https://a.example/mcp", "https://a.example/", false],
    ["http://a.example/mcp", "https://a.example/mcp", false],
    ["https://a.example:8443/mcp", "https://a.example/mcp", false],
    ["https://a.example.evil.example/mcp", "https://a.example/mcp", false],
    ["https://a.example/mcp/../other", "https://a.example/mcp", false],
    ["mcp", "https://a.example/mcp", false],
  ])("%s covers %s: %p", (resource, server, expected) => {
    expect(covers(resource, server)).toBe(expected);
  });

  test("never include another origin", () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.webUrl(), (resource, server) => {
        if (new URL(resource).origin !== new URL(server).origin) expect(covers(resource, server)).toBe(false);
      }),
    );
  });
});

test("metadata documents are looked for in the order that the protocol specifies", () => {
  expect(resourceMetadataUrls("https://a.example/mcp")).toEqual([
    "https://a.example/.well-known/oauth-protected-resource/mcp",
    "https://a.example/.well-known/oauth-protected-resource",
  ]);
  expect(authorizationServerUrls("https://a.example/t1")).toEqual([
    "https://a.example/.well-known/oauth-authorization-server/t1",
    "https://a.example/.well-known/openid-configuration/t1",
    "https://a.example/t1/.well-known/openid-configuration",
  ]);
  expect(authorizationServerUrls("https://a.example")).toEqual([
    "https://a.example/.well-known/oauth-authorization-server",
    "https://a.example/.well-known/openid-configuration",
  ]);
});

test("an invalid metadata document is never accepted", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(typeof readAuthorizationServer(value as never, "https://a.example", () => true)).toBe("string");
    }),
  );
});

test("a PKCE challenge equals the example of RFC 7636", () => {
  expect(challengeOf("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).toBe("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
  expect(isChallenge(challengeOf(newVerifier()))).toBe(true);
});

test("a challenge of one long word is read in linear time", () => {
  const started = cpuMs();
  for (let times = 0; times < 20; times++)
    expect(readChallenge(`Bearer ${"a".repeat(8_000)}`)).toEqual({ error: null, scope: null, resourceMetadata: null });
  expect(cpuMs(started)).toBeLessThan(200);
});
