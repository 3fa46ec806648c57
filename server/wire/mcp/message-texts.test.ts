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

test("texts are those a caller reads: not addresses, bytes, kinds or what is for programs; data of a tool's own is read whole", () => {
  expect(textsOf(ANSWER)).toEqual(["one", "two", "three", "type", "four", "deep", "five@x", "6", "eight"]);
});

test("a resource that comes as bytes is looked into where they are text, and stays bytes", () => {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const blobs = [base64("a secret"), base64("\u00e9 secret"), "iVBORw0KGgoAAAANSUhEUg==", base64("plain")];
  const contents = blobs.map((blob) => ({ uri: "test://x", blob, mimeType: "application/octet-stream" }));
  const message = JSON.stringify({
    result: { contents, content: [{ type: "resource", resource: contents[0] }], _meta: { blob: blobs[0] } },
  });
  const changed = JSON.parse(replaceMessageTexts(message, (text) => text.replace("secret", "***")));
  expect(changed.result.contents.map(({ blob }: any) => blob)).toEqual([base64("a ***"), base64("\u00e9 ***"), blobs[2], blobs[3]]);
  expect(changed.result.content[0].resource.blob).toBe(base64("a ***"));
  expect(changed.result._meta.blob).toBe(blobs[0]);
});

test("a name that stands twice hides nothing, nor does one that is spelled with escapes", () => {
  const seen: string[] = [];
  replaceMessageTexts('{"result":{"content":[{"text":"a","text":"b"}]},"re\\u0073ult":{"t\\u0079pe":"c","text":"\\u0064"}}', (text) => {
    seen.push(text);
    return text;
  });
  expect(seen).toEqual(["a", "b", "d"]);
});

test("what is not changed keeps its spelling, and what is changed is JSON still", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.integer({ min: 0, max: 4 }), (value, indent) => {
      const text = JSON.stringify({ result: { structuredContent: value, text: value } }, null, indent);
      expect(replaceMessageTexts(text, (leaf) => leaf)).toBe(text);
      expect(() => JSON.parse(replaceMessageTexts(text, (leaf) => `${leaf}"\\`)) as unknown).not.toThrow();
    }),
  );
});

test("fields of a form and questions are looked at whatever the server calls them", () => {
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

test("a sentence is looked at where a kind, an address or bytes would stand; ids and what servers keep for themselves are not", () => {
  const result = {
    ...{
      status: "one two",
      data: "three four",
      url: "https://x.test/a",
      type: "text",
      requestState: "a b",
      taskId: "a b",
      _meta: { data: "a b" },
    },
    content: [{ type: "image", data: "QUJD", mimeType: "image/png", annotations: { data: "a b" } }],
  };
  expect(textsOf({ jsonrpc: "2.0", id: "a b", result })).toEqual(["one two", "three four"]);
});
