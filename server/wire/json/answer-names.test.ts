import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { clearNames } from "./answer-names.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";

function cleared(text: string): { said: boolean; body: JsonObject } {
  const body = JSON.parse(text) as JsonObject;
  return { said: clearNames(body, text), body };
}

describe("ambiguous names in an answer", () => {
  test.each([
    ['{"choices":[{"delta":{"content":"a","content":"b"}}]}', { choices: [{ delta: { content: "b" } }] }],
    ['{"a":1,"a":{"b":2}}', { a: { b: 2 } }],
    ['{"c\\u006fntent":"a","content":"b"}', { content: "b" }],
    ['{"a" :"x:\\"a\\":" ,\n"a"\t: 2}', { a: 2 }],
    ['{"__proto__":1,"__proto__":2,"b":3}', JSON.parse('{"__proto__":2,"b":3}')],
    ['{"choices":[{"delta":{"content":"a","Content":"b"}}]}', { choices: [{ delta: { content: "a" } }] }],
    ['{"Choices":[{"delta":{"content":"a"}}]}', {}],
    ['{"candidates":[{"content":{"part\u017f":[{"text":"a"}],"parts":[{"text":"b","TEXT":"c"}]}}]}', textOf("b")],
    ['{"type":"x","response":{"output":[{"type":"function_call","name":"a","Name":"b"}]}}', itemOf({ type: "function_call", name: "a" })],
    ['{"choices":[{"index":0,"Index":1}]}', { choices: [{ index: 0 }] }],
  ])("are removed from %s", (text, body) => expect(cleared(text)).toEqual({ said: true, body: body as JsonObject }));

  test.each([
    '{"choices":[{"delta":{"content":"a \\"content\\": b"}},{"delta":{"content":"c"}}],"n":[["a:","b"],{"a":{"a":1}}]}',
    '{"content":[{"type":"tool_use","input":{"Name":"x","Content":[{"Text":1}]}}],"usage":{}}',
    '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"Text":1,"text":2}}}]}}]}',
    '{"metadata":{"Model":"x"},"tools":[{"parameters":{"properties":{"Content":{}}}}]}',
    '{"x":{"ı":1,"i":2},"Vendor":1}',
  ])("are not in %s", (text) => expect(cleared(text)).toEqual({ said: false, body: JSON.parse(text) as JsonObject }));

  const spaces = fc.constantFrom("", " ", "\n", "\t ", "\r\n");
  const name = fc.string({ unit: "grapheme", maxLength: 8 });

  test("are detected for any repeated member, and for nothing else", () => {
    fc.assert(
      fc.property(fc.dictionary(name, fc.json()), spaces, fc.nat(), (members, space, at) => {
        // Names that imitate a protocol name are a separate case.
        const own = Object.entries(members).map(([key, json]) => [`~${key}`, `{"~":${json.replaceAll(/[A-Z]/g, "x")}}`] as const);
        const written = own.map(([key, json]) => `${JSON.stringify(key)}${space}:${space}${json}`);
        const text = (all: readonly string[]) => `{${space}${all.join(`${space},`)}${space}}`;
        let plain: unknown;
        try {
          plain = JSON.parse(text(written));
        } catch {
          return;
        }
        if (!isObject(plain) || JSON.stringify(plain) !== JSON.stringify(JSON.parse(JSON.stringify(plain)))) return;
        const twice = own[at % Math.max(1, own.length)];
        const before = JSON.stringify(plain);
        expect(clearNames(plain, text(written))).toBe(countedTwice(text(written)));
        expect(JSON.stringify(plain)).toBe(before);
        if (twice === undefined) return;
        const more = text([...written, `${JSON.stringify(twice[0])}:1`]);
        expect(clearNames(JSON.parse(more) as JsonObject, more)).toBe(true);
      }),
    );
  });
});

/** `fc.json` itself may generate a duplicate name. */
function countedTwice(text: string): boolean {
  let names = 0;
  JSON.parse(text, (_key, value: unknown) => {
    if (isObject(value)) names += Object.keys(value).length;
    return value;
  });
  let said = 0;
  for (const { 1: colon } of text.matchAll(/"(?:[^"\\]|\\.)*"\s*(:)?/g)) if (colon !== undefined) said++;
  return said !== names;
}

function textOf(text: string): JsonObject {
  return { candidates: [{ content: { parts: [{ text }] } }] };
}
function itemOf(item: JsonObject): JsonObject {
  return { type: "x", response: { output: [item] } };
}
