import { expect, test } from "bun:test";
import { isWrittenObject, writtenMembers } from "../../web/portal/src/tools/written-json.ts";

test("members are listed as written, with all digits and duplicates", () => {
  expect(writtenMembers('{"id":9007199254740993, "text" : "a \\"b\\" {c}, d", "id": 1.10, "no": null, "none": {}, "all": [ ]}')).toEqual([
    { name: "id", value: "9007199254740993" },
    { name: "text", value: 'a "b" {c}, d' },
    { name: "id", value: "1.10" },
    { name: "no", value: "null" },
    { name: "none", value: "{}" },
    { name: "all", value: "[]" },
  ]);
});

test("nested values are indented as JSON, at any depth", () => {
  const value = { a: [{ b: "x,y:{}" }, [], {}, [[1, 2], "é"]], "c\\d": { e: { f: null } } };
  expect(writtenMembers(JSON.stringify({ value }))).toEqual([{ name: "value", value: JSON.stringify(value, null, 2) }]);
  const deep = `${"[".repeat(3_000)}7${"]".repeat(3_000)}`;
  expect(writtenMembers(`{"deep":${deep}}`)?.[0]?.value.replaceAll(/\s/g, "")).toBe(deep);
});

test("text that is not a JSON object has no members", () => {
  for (const text of ["", "[1]", "1", '"a"', "null", "{", '{"a":1}}'])
    expect([isWrittenObject(text), writtenMembers(text)]).toEqual([false, null]);
  expect(writtenMembers(" {} ")).toEqual([]);
});
