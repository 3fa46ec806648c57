import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { duplicateMember, editMembers, jsonMembersOf } from "./json-members.ts";

const edit = (text: string, edits: Record<string, string | null>) => editMembers(text, jsonMembersOf(text), new Map(Object.entries(edits)));

describe("editing a JSON object in place", () => {
  test("keeps every byte outside the edited member", () => {
    const text = '{ "temperature" : 1.0e0,\n "model":"a",  "x":[1,{"model":"b"}] }\n';
    expect(edit(text, { model: '"c"' })).toBe('{ "temperature" : 1.0e0,\n "model":"c",  "x":[1,{"model":"b"}] }\n');
  });

  test("removes members at any position", () => {
    expect(edit('{"a":1,"b":2,"c":3}', { a: null })).toBe('{"b":2,"c":3}');
    expect(edit('{"a":1,"b":2,"c":3}', { b: null })).toBe('{"a":1,"c":3}');
    expect(edit('{"a":1,"b":2,"c":3}', { c: null })).toBe('{"a":1,"b":2}');
    expect(edit('{"a":1}', { a: null })).toBe("{}");
  });

  test("adds missing members", () => {
    expect(edit("{}", { a: "1" })).toBe('{"a":1}');
    expect(JSON.parse(edit('{"b":2}', { a: "1" }))).toEqual({ a: 1, b: 2 });
    expect(edit('{"model_id":"x"}', { model_id: null, model: '"m"' })).toBe('{"model":"m"}');
  });

  test("recognizes escaped names, and finds duplicate members", () => {
    expect(duplicateMember(jsonMembersOf('{"model":"a","\\u006dodel":"b"}'))).toBe("model");
    expect(duplicateMember(jsonMembersOf('{"model":"a","x":{"model":"b"}}'))).toBeNull();
    const many = Array.from({ length: 40 }, (_, i) => `"m${i}":${i}`).join(",");
    expect(duplicateMember(jsonMembersOf(`{${many}}`))).toBeNull();
    expect(duplicateMember(jsonMembersOf(`{${many},"m7":0}`))).toBe("m7");
  });

  test("of any shape keeps unedited members and sets edited ones", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.nat(4),
        fc.string(),
        fc.option(fc.jsonValue()),
        (object, indent, name, value) => {
          const text = JSON.stringify(object, null, indent);
          const expected: Record<string, unknown> = JSON.parse(text);
          if (value === null) delete expected[name];
          else
            Object.defineProperty(expected, name, {
              value: JSON.parse(JSON.stringify(value)),
              enumerable: true,
              configurable: true,
              writable: true,
            });
          const members = jsonMembersOf(text);
          expect(members.map((member) => member.name).sort()).toEqual(Object.keys(object).sort());
          expect(JSON.parse(editMembers(text, members, new Map([[name, value === null ? null : JSON.stringify(value)]])))).toEqual(
            expected,
          );
          expect(editMembers(text, members, new Map())).toBe(text);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
