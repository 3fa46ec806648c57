import { describe, expect, test } from "bun:test";
import { ambiguousName } from "./ambiguous-name.ts";
import type { JsonValue } from "../../kernel/json-value.ts";
import { folded } from "../../kernel/text/folded-name.ts";
import { governedNames } from "./governed-names.ts";

const found = (text: string) => {
  const unclear = ambiguousName(JSON.parse(text) as JsonValue);
  return unclear === null ? null : `${unclear.name} ${unclear.other}`;
};

describe("names that parsers may take for the same", () => {
  test.each([
    ['{"model":"a","Model":"b"}', "Model model"],
    ['{"Model":"b"}', "Model model"],
    ['{"Max_Tokens":9}', "Max_Tokens max_tokens"],
    ['{"me\u017f\u017fages":[]}', "meſſages messages"],
    ['{"\uff4dodel":1}', "ｍodel model"],
    ['{"maxoutputtokens":1}', "maxoutputtokens maxOutputTokens"],
    ['{"messages":[{"role":"user","content":[{"type":"text","Text":"x"}]}]}', "Text text"],
    ['{"tools":[{"type":"function","function":{"Name":"x"}}]}', "Name name"],
    ['{"x":{"\u212aelvin":1,"kelvin":2}}', "kelvin \u212aelvin"],
    ['{"x":{"ﬀ":1,"FF":2}}', "FF ﬀ"],
    ['{"x":{"straße":1,"STRASSE":2}}', "STRASSE straße"],
    ['{"params":{"name":"q","arguments":{"sql":"a","SQL":"b"}}}', "SQL sql"],
    ['{"tools":[{"input_schema":{"properties":{"id":{},"ID":{}}}}]}', "ID id"],
    ['{"result":{"content":[],"structuredContent":{"deep":[{"a":1,"A":2}]}}}', "A a"],
  ])("are found in %s", (text, names) => expect(found(text)).toBe(names));

  test.each([
    '{"model":"a","max_tokens":1,"generationConfig":{"maxOutputTokens":1,"topP":1}}',
    // Free-form data of callers and tools may use the protocol's names in any case.
    '{"metadata":{"Model":"x"},"tools":[{"input_schema":{"properties":{"Name":{"type":"string"},"Content":{}}}}]}',
    '{"params":{"name":"q","arguments":{"Name":"x","nested":{"Content":[{"Text":1}]}}}}',
    '{"messages":[{"content":[{"type":"tool_use","input":{"Name":"x"}}]}]}',
    '{"result":{"action":"accept","content":{"Name":"x"}}}',
    '{"x":{"ı":1,"i":2}}',
    "[]",
  ])("are not in %s", (text) => expect(found(text)).toBeNull());

  test("include a protocol name in an array of inputs", () => {
    expect(found('{"input":[{"role":"user","Content":"x"}]}')).toBe("Content content");
  });

  test("are compared in linear time for long runs of combining marks", () => {
    const name = "\u0315\u0300".repeat(500_000);
    expect(folded(name)).toHaveLength(name.length);
  });
});

describe("names in answers to a tool server's question, and in results", () => {
  test.each([
    ['{"params":{"inputResponses":{"r1":{"Action":"accept","content":{}}}}}', "Action action"],
    ['{"params":{"inputResponses":{"r1":{"action":"accept","Content":{"name":"x"}}}}}', "Content content"],
    ['{"params":{"inputResponses":{"r1":{},"R1":{}}}}', "R1 r1"],
    ['{"result":{"action":"x","role":"assistant","content":{"type":"text","Text":"x"}}}', "Text text"],
    ['{"access_token":"a","Access_Token":"b"}', "Access_Token access_token"],
    ['{"Reasoning_Content":"x"}', "Reasoning_Content reasoning_content"],
    ['{"x":{"a\\ud800":1,"a\\ud801":2}}', "a\ud801 a\ud800"],
  ])("are found if ambiguous in %s", (text, names) => expect(found(text)).toBe(names));

  test("may be protocol names in the fields of a form", () => {
    expect(found('{"params":{"inputResponses":{"Name":{"action":"accept","content":{"Name":"x","Text":"y"}}}}}')).toBeNull();
  });
});

test("no two protocol names fold to the same name", () => {
  expect(new Set([...governedNames].map(folded)).size).toBe(governedNames.size);
});
