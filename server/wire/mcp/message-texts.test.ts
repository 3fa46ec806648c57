import { expect, test } from "bun:test";
import fc from "fast-check";
import { replaceMessageTexts } from "./message-texts.ts";

function textsOf(message: unknown): string[] {
  const texts: string[] = [];
  replaceMessageTexts(JSON.stringify(message), (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

const ANSWER = {
  jsonrpc: "2.0",
  id: "a",
  result: {
    content: [
      { type: "text", text: "one" },
      { type: "resource", resource: { uri: "test://x", mimeType: "text/plain", text: "two" } },
      { type: "image", data: "QUJD", mimeType: "image/png" },
      { type: "resource_link", uri: "test://y", name: "three" },
    ],
    structuredContent: { type: "four", deep: [{ "five@x": 6 }, 7.5, true] },
    _meta: { ui: { text: "kept" } },
    messages: [{ role: "user", content: { type: "text", text: "eight" } }],
  },
};

test("texts of an MCP message are inspected, except bytes, types and IDs; a tool's own data is inspected completely", () => {
  expect(textsOf(ANSWER)).toEqual(["one", "test://x", "two", "test://y", "three", "type", "four", "deep", "five@x", "6", "kept", "eight"]);
});

test("an MCP resource blob is inspected if its bytes are text, and stays base64", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const blobs = [base64("a secret"), base64("\u00e9 secret"), "iVBORw0KGgoAAAANSUhEUg==", base64("plain")];
  const contents = blobs.map((blob) => ({ uri: "test://x", blob, mimeType: "application/octet-stream" }));
  const message = JSON.stringify({
    result: { contents, content: [{ type: "resource", resource: contents[0] }], _meta: { blob: blobs[0] } },
  });
  const changed = JSON.parse(replaceMessageTexts(message, (text) => text.replace("secret", "***")));
  expect(changed.result.contents.map(({ blob }: any) => blob)).toEqual([base64("a ***"), base64("\u00e9 ***"), blobs[2], blobs[3]]);
  expect(changed.result.content[0].resource.blob).toBe(base64("a ***"));
  expect(changed.result._meta.blob).toBe(base64("a ***"));
});

test("duplicate and escaped member names hide no text of an MCP message", () => {
  const seen: string[] = [];
  replaceMessageTexts('{"result":{"content":[{"text":"a","text":"b"}]},"re\\u0073ult":{"t\\u0079pe":"c","text":"\\u0064"}}', (text) => {
    seen.push(text);
    return text;
  });
  expect(seen).toEqual(["a", "b", "d"]);
});

test("unchanged parts of an MCP message keep their spelling, and a changed message is valid JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 4 }), (value, indent) => {
      const text = JSON.stringify({ result: { structuredContent: value, text: value } }, null, indent);
      expect(replaceMessageTexts(text, (leaf) => leaf)).toBe(text);
      expect(() => JSON.parse(replaceMessageTexts(text, (leaf) => `${leaf}"\\`)) as unknown).not.toThrow();
    }),
  );
});

test("form fields and questions are inspected whatever names the server gives them", () => {
  const named = (name: string) => ({
    result: {
      inputRequests: {
        [name]: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "one",
            requestedSchema: { type: "object", properties: { [name]: { type: "string", title: "two", description: "three" } } },
          },
        },
      },
    },
  });
  for (const name of ["status", "url", "data", "id", "mode", "format", "type", "role", "properties", "other"])
    expect([name, textsOf(named(name))]).toEqual([name, ["one", "two", "three"]]);
});

test("sentences in place of a type, ID or bytes are inspected, and URLs always, decoded", () => {
  const result = {
    ...{
      status: "one two",
      data: "three four",
      url: "https://x.test/a?to=joe%40example.com",
      type: "text",
      requestState: "five six",
      taskId: "t-1",
      nextCursor: "c-1",
      _meta: { data: "seven eight", progressToken: "p-1", note: "nine", "joe@example.com": 1 },
    },
    content: [{ type: "image", data: "QUJD", mimeType: "image/png", annotations: { audience: ["user"], title: "ten" } }],
  };
  expect(textsOf({ jsonrpc: "2.0", id: "a b", result })).toEqual([
    ...["one two", "three four", "https://x.test/a?to=joe@example.com", "five six", "seven eight", "nine", "joe@example.com", "ten"],
  ]);
});

test("notifications, elicitations and errors are inspected, with names and numbers of their data", () => {
  const said = (method: string, params: object) => textsOf({ jsonrpc: "2.0", method, params });
  expect(said("notifications/message", { level: "info", logger: "one", data: { two: 3 } })).toEqual(["one", "two", "3"]);
  expect(said("notifications/message", { level: "info", data: "four" })).toEqual(["four"]);
  expect(said("notifications/progress", { progressToken: "p", progress: 1, message: "five" })).toEqual(["five"]);
  expect(said("elicitation/create", { mode: "url", message: "six", url: "https://x.test", elicitationId: "e" })).toEqual([
    "six",
    "https://x.test",
  ]);
  expect(textsOf({ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "seven", data: { eight: "nine" } } })).toEqual([
    "seven",
    "eight",
    "nine",
  ]);
});

test("a member of the result that is inspected separately is left out, but not elsewhere", () => {
  const texts: string[] = [];
  const message = JSON.stringify({ result: { tools: [{ name: "one" }], _meta: { tools: "two" } }, tools: "three" });
  replaceMessageTexts(message, (text) => (texts.push(text), text), new Set(["tools"]));
  expect(texts).toEqual(["two", "three"]);
});

test("an ID that is an object or list is inspected", () => {
  expect(textsOf({ id: { id: "one two", of: ["three"] }, method: "ping" })).toEqual(["one two", "three"]);
  expect(textsOf({ id: ["one"], result: {} })).toEqual(["one"]);
  expect(textsOf({ id: "one two", result: {} })).toEqual([]);
});

test("URLs in structured content, logs and errors are inspected decoded", () => {
  const data = { elicitations: [{ url: "https://x.test/?to=joe%40example.com" }] };
  const decoded = "https://x.test/?to=joe@example.com";
  expect(textsOf({ result: { structuredContent: data } })).toContain(decoded);
  expect(textsOf({ method: "notifications/message", params: { level: "info", data } })).toContain(decoded);
  expect(textsOf({ error: { code: -32042, message: "", data } })).toContain(decoded);
});
