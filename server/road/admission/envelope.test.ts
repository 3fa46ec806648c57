import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { secretBox } from "../../kernel/secrets.ts";
import { mayRedirect } from "../../services/tools/authorization/clients.ts";
import { usableRedirects } from "../../services/tools/authorization/client-documents.ts";
import { openEnvelope, type Purpose, sealEnvelope } from "./envelope.ts";

const secrets = secretBox(new Uint8Array(32).fill(7));
const purposes: Purpose[] = ["client", "connect", "consent", "state", "code", "access", "refresh", "input"];

describe("a sealed envelope", () => {
  test("opens for its purpose and owner until it expires, and can be used in a URL", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...purposes),
        fc.constantFrom(...purposes),
        fc.string(),
        fc.string(),
        fc.string(),
        (purpose, other, owner, otherOwner, text) => {
          const sealed = sealEnvelope(secrets, purpose, owner, { text }, 1000);
          expect(sealed).toMatch(/^[\w.-]+$/);
          expect(openEnvelope(secrets, purpose, owner, sealed, 1000)).toEqual({ text, until: 1000 });
          expect(openEnvelope(secrets, purpose, owner, sealed, 1001)).toBeNull();
          if (other !== purpose) expect(openEnvelope(secrets, other, owner, sealed, 0)).toBeNull();
          if (otherOwner !== owner) expect(openEnvelope(secrets, purpose, otherOwner, sealed, 0)).toBeNull();
        },
      ),
    );
  });

  test("does not open after any change", () => {
    const sealed = sealEnvelope(secrets, "state", "o", { a: 1 }, null);
    fc.assert(
      fc.property(fc.nat(sealed.length), fc.constantFrom("", "x", "_", ".", "=", "A"), (at, letter) => {
        const changed = sealed.slice(0, at) + letter + sealed.slice(at + 1);
        if (changed !== sealed) expect(openEnvelope(secrets, "state", "o", changed, 0)).toBeNull();
        const longer = sealed.slice(0, at) + letter + sealed.slice(at);
        if (longer !== sealed) expect(openEnvelope(secrets, "state", "o", longer, 0)).toBeNull();
      }),
    );
  });
});

describe("redirect URIs", () => {
  test("match only what was registered, apart from the port of a local listener", () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.string(), (registered, more) => {
        expect(mayRedirect({ redirectUris: [registered] }, registered)).toBe(true);
        if (more !== "") expect(mayRedirect({ redirectUris: [registered] }, registered + more)).toBe(false);
      }),
    );
    expect(mayRedirect({ redirectUris: ["http://localhost/cb"] }, "http://localhost:5000/cb")).toBe(true);
    expect(mayRedirect({ redirectUris: ["http://localhost:1/cb"] }, "http://127.0.0.1:1/cb")).toBe(false);
    expect(mayRedirect({ redirectUris: ["https://localhost/cb"] }, "https://localhost:5000/cb")).toBe(false);
  });

  test.each([
    "https://app.example/cb",
    "http://127.0.0.1/cb",
    "http://[::1]:9/cb",
    "com.example.app:/cb",
    "cursor://anysphere.cursor-mcp/oauth",
  ])("%s can be registered", (uri) => {
    expect(usableRedirects([uri])).toEqual([uri]);
  });

  test.each([
    [[]],
    [null],
    [["https://a.example", "javascript:x"]],
    [["http://a.example"]],
    [["file:///etc/passwd"]],
    [["https://a.example/\u0000"]],
    [[7]],
  ])("%p cannot be registered", (value) => {
    expect(usableRedirects(value)).toBeNull();
  });
});
