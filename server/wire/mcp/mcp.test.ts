import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { handshakeParams, handshakeResult, statelessParams, statelessResult } from "./bridge.ts";
import { readFilter, isWantedChange, writeFilter } from "./changes.ts";
import { RequestHeaders } from "../../kernel/http/request-headers.ts";
import { META } from "./dialect.ts";
import { fromHeaderValue, headerValue } from "./header-values.ts";
import { carriesArgument } from "./headers.ts";
import { memberOf, namespacedName, namespacedUri } from "./namespace.ts";
import { namespacedResult } from "./namespaced-items.ts";
import { paramHeaders, paramMismatch, writeParamHeaders } from "./param-headers.ts";
import { repeatedName } from "../json/repeated-name.ts";
import { isRpcProblem, readRpc } from "./rpc.ts";
import { canonicalToolJson, digestOf, listedTools } from "./tool-definitions.ts";
import { diffTools } from "./tool-diff.ts";

const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as JsonValue);
const slug = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);

describe("MCP header values", () => {
  test("encode any text in characters allowed in headers", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const value = headerValue(text);
        expect(fromHeaderValue(value)).toBe(text);
        expect(/^[\x20-\x7e\t]*$/.test(value)).toBe(true);
        expect(new Headers({ x: value }).get("x")).toBe(value);
      }),
    );
  });

  test("with invalid base64 are rejected", () => {
    for (const wrong of ["=?base64?%%%?=", "=?base64?/w==?="]) expect(fromHeaderValue(wrong)).toBeNull();
    expect(fromHeaderValue("=?BASE64?YQ==?=")).toBe("=?BASE64?YQ==?=");
  });

  test("of integers are compared as numbers", () => {
    expect([
      carriesArgument("42.0", 42),
      carriesArgument("42", 42),
      carriesArgument("", 0),
      carriesArgument("43", 42),
      carriesArgument("true", true),
      carriesArgument("True", true),
    ]).toEqual([true, true, false, false, true, false]);
  });
});

describe("tool arguments mirrored in headers", () => {
  const schema = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      deep: { type: "object", properties: { n: { type: "integer", "x-mcp-header": "Depth" } } },
      plain: { type: "string" },
    },
  };

  test("are written, compared with the arguments, and left out if null", () => {
    const mirrored = paramHeaders(schema) ?? [];
    const headers = (said: Record<string, string>) => new RequestHeaders(new Headers(said));
    expect(writeParamHeaders(mirrored, { region: " eu ", deep: { n: 7 }, plain: "x" })).toEqual({
      "mcp-param-region": `=?base64?${btoa(" eu ")}?=`,
      "mcp-param-depth": "7",
    });
    expect(writeParamHeaders(mirrored, { region: null })).toEqual({});
    expect(paramMismatch(mirrored, () => ({ region: "eu" }), headers({ "mcp-param-region": "eu" }))).toBeNull();
    expect(paramMismatch(mirrored, () => ({ region: "eu" }), headers({ "mcp-param-region": "us" }))).toContain("Region");
    expect(paramMismatch(mirrored, () => ({}), headers({ "mcp-param-region": "us" }))).toContain("Region");
  });

  test.each([
    ["a mirrored number", { properties: { a: { type: "number", "x-mcp-header": "A" } } }],
    ["two equal header names", { properties: { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } } }],
    ["a header name that is no token", { properties: { a: { type: "string", "x-mcp-header": "a b" } } }],
    ["an empty header name", { properties: { a: { type: "string", "x-mcp-header": "" } } }],
    ["a mirrored value below items", { properties: { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } } }],
    ["a mirrored value below anyOf", { anyOf: [{ properties: { a: { type: "string", "x-mcp-header": "A" } } }] }],
  ])("in a schema with %s make the tool unusable", (_name, wrong) => {
    expect(paramHeaders(wrong)).toBeNull();
  });
});

describe("namespaced names of a virtual server", () => {
  test("are mapped back to the member server and its name", () => {
    fc.assert(
      fc.property(slug, fc.string({ minLength: 1 }), fc.webUrl(), (member, name, uri) => {
        expect(memberOf({ type: "tool", name: namespacedName(member, name) })).toEqual({
          slug: member,
          capability: { type: "tool", name },
        });
        for (const address of [uri, `ui://${name}`, `file:///${name}`])
          expect(memberOf({ type: "resource", name: namespacedUri(member, address) })).toEqual({
            slug: member,
            capability: { type: "resource", name: address },
          });
      }),
    );
  });

  test("are used in results wherever a resource is named, and nowhere else", () => {
    const result = {
      content: [
        { type: "text", text: "test://a" },
        { type: "resource_link", uri: "test://a" },
        { type: "resource", resource: { uri: "test://b", text: "x" } },
      ],
      structuredContent: { uri: "test://c" },
    };
    expect(namespacedResult("m", result)).toEqual({
      content: [
        { type: "text", text: "test://a" },
        { type: "resource_link", uri: "m+test://a" },
        { type: "resource", resource: { uri: "m+test://b", text: "x" } },
      ],
      structuredContent: { uri: "test://c" },
    });
    expect(namespacedResult("m", { content: [{ type: "text", text: "x" }] })).toBeNull();
  });
});

describe("params and results translated between MCP dialects", () => {
  const sender = { version: "2026-07-28", capabilities: { elicitation: {} }, clientInfo: null, logLevel: "info" };

  test("keep their JSON spelling except for what differs between the dialects", () => {
    const given = `{"name":"t" , "arguments":{"big":12345678901234567890,"n":1.50},"_meta":{"progressToken":7}}`;
    const there = statelessParams(given, sender);
    expect(there).toContain(`"arguments":{"big":12345678901234567890,"n":1.50}`);
    expect((JSON.parse(there) as JsonObject)._meta).toEqual({
      progressToken: 7,
      [META.version]: "2026-07-28",
      [META.capabilities]: { elicitation: {} },
      [META.logLevel]: "info",
    });
    expect(JSON.parse(handshakeParams(there) ?? "")).toEqual(JSON.parse(given));
  });

  test("keep every digit of a progress token and of other members of _meta", () => {
    const token = '"progressToken":9007199254740993';
    const there = statelessParams(`{"_meta":{${token},"x":1.50}}`, {
      version: "2026-07-28",
      capabilities: {},
      clientInfo: null,
      logLevel: null,
    });
    expect([there.includes(token), handshakeParams(there)]).toEqual([true, `{"_meta":{${token},"x":1.50}}`]);
    const result = statelessResult("tools/call", `{"content":[],"_meta":{"seen":9007199254740993}}`, { name: "s", version: "1" });
    expect([result.includes('"seen":9007199254740993'), handshakeResult(result)]).toEqual([
      true,
      '{"content":[],"_meta":{"seen":9007199254740993}}',
    ]);
  });

  test("are unchanged after translation there and back", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (rest) => {
        const { _meta: _own, resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...result } = rest;
        const text = JSON.stringify(result);
        expect(JSON.parse(handshakeResult(statelessResult("tools/list", text, { name: "s", version: "1" })))).toEqual(JSON.parse(text));
      }),
    );
  });

  test("mark lists as private, with no time to live", () => {
    expect(JSON.parse(statelessResult("tools/list", '{"tools":[]}', null))).toEqual({
      tools: [],
      resultType: "complete",
      ttlMs: 0,
      cacheScope: "private",
    });
    expect(JSON.parse(statelessResult("tools/call", '{"content":[]}', null))).toEqual({ content: [], resultType: "complete" });
  });
});

describe("MCP messages", () => {
  test("with a duplicate member, at any depth and in any spelling, are refused", () => {
    for (const text of ['{"a":1,"a":2}', '{"x":{"a":1,"\\u0061":2}}', '{"x":[{"a":1},{"b":{"c":1,"c":2}}]}'])
      expect(repeatedName(text, JSON.parse(text))).not.toBeNull();
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1), (value, spaces) => {
        const text = JSON.stringify(value, null, spaces);
        expect(repeatedName(text, JSON.parse(text))).toBeNull();
      }),
    );
    const deep = `${"[".repeat(200_000)}{"a":1,"a":2}${"]".repeat(200_000)}`;
    expect(repeatedName(deep, JSON.parse(deep))).toBe("a");
  });

  test("nested too deeply are refused", () => {
    const nested = (levels: number, text = "") =>
      readRpc(
        new TextEncoder().encode(
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":${"[".repeat(levels)}${JSON.stringify(text)}${"]".repeat(levels)}}}`,
        ),
      );
    expect([nested(998), nested(999), nested(100_000), nested(1, "[".repeat(5_000))].map(isRpcProblem)).toEqual([false, true, true, false]);
  });

  test("are read only if their version is 2.0, and never throw", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          json.map((value) => new TextEncoder().encode(JSON.stringify(value))),
        ),
        (bytes) => {
          const read = readRpc(bytes);
          if (!isRpcProblem(read)) expect(read.document.value.jsonrpc).toBe("2.0");
        },
      ),
    );
  });
});

describe("tool definitions", () => {
  test("have the same hash in any member order", () => {
    const turned = (value: JsonValue): JsonValue =>
      Array.isArray(value)
        ? value.map(turned)
        : typeof value === "object" && value !== null
          ? Object.fromEntries(
              Object.entries(value)
                .toReversed()
                .map(([name, child]) => [name, turned(child as JsonValue)]),
            )
          : value;
    fc.assert(
      fc.property(json, (value) => {
        expect(digestOf(turned(value))).toBe(digestOf(value));
        expect(JSON.parse(canonicalToolJson(value))).toEqual(value as never);
      }),
    );
  });

  test("are compared as added, removed and changed", () => {
    const [before, after] = [
      listedTools([{ name: "a" }, { name: "b" }, "no tool", {}]),
      listedTools([{ name: "b", description: "new" }, { name: "c" }]),
    ];
    expect(diffTools(before, after)).toEqual({ added: ["c"], removed: ["a"], changed: ["b"] });
  });
});

test("a subscription filter is read back as written, and passes only the changes it names", () => {
  fc.assert(
    fc.property(
      fc.record({
        tools: fc.boolean(),
        prompts: fc.boolean(),
        resources: fc.boolean(),
        uris: fc.array(fc.webUrl()),
        logs: fc.constant(false),
      }),
      (filter) => {
        expect(readFilter(writeFilter(filter))).toEqual(filter);
        for (const list of ["tools", "prompts", "resources"] as const)
          expect(isWantedChange(filter, { method: `notifications/${list}/list_changed` })).toBe(filter[list]);
        for (const uri of filter.uris)
          expect(isWantedChange(filter, { method: "notifications/resources/updated", params: { uri } })).toBe(true);
        expect(isWantedChange(filter, { method: "notifications/message", params: { uri: filter.uris[0] ?? "" } })).toBe(false);
      },
    ),
  );
});
