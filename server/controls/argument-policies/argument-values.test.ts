import { expect, test } from "bun:test";
import { argumentValues } from "./argument-values.ts";
import { hasNameVariant } from "./name-variants.ts";
import { schemaNames } from "./schema-names.ts";

test.each([
  ['{"SQL":"delete from t"}', "sql"],
  ['{"\\u0053ql":"delete from t"}', "sql"],
  ['{"\u017fql":"delete from t"}', "sql"],
  ['{"query":{"SQL":"delete from t"}}', "query.sql"],
  ['{"Query":{"sql":"delete from t"}}', "query.sql"],
  ['{"queries":[{"sql":"select 1"},{"Sql":"delete from t"}]}', "queries.sql"],
  ['{"Query.SQL":"delete from t"}', "query.sql"],
])("%s contains a name that a tool may take for %s, and is unreadable", (text, key) => {
  expect(argumentValues(text, key, false).kind).toBe("unreadable");
});

test("a similar name at another path is a different argument", () => {
  expect(argumentValues('{"sql":"select 1","options":{"Sql":1}}', "sql", false)).toEqual({ kind: "values", values: ["select 1"] });
  expect(argumentValues('{"other":1}', "sql", false)).toEqual({ kind: "values", values: [] });
});

test("names that a schema governs have one spelling, at any depth", () => {
  const names = schemaNames({ properties: { order: { properties: { amount: { maximum: 5 } } }, ID: {}, id: {} }, required: ["currency"] });
  for (const value of [{ Order: 1 }, { order: { AMOUNT: 9 } }, { list: [{ Currency: "x" }] }])
    expect(hasNameVariant(value, names)).toBe(true);
  for (const value of [{ order: { amount: 9 } }, { ID: 1, id: 2 }, { other: { Else: 1 } }, null, "x"])
    expect(hasNameVariant(value, names)).toBe(false);
});

test("a member name with dots does not hide the value at that path, and a list's length is not an argument", () => {
  const both = '{"options":{"path":"../../etc"},"options.path":"ok"}';
  expect(argumentValues(both, "options.path", false)).toEqual({ kind: "values", values: ["ok", "../../etc"] });
  expect(argumentValues('{"box":[{"length":"bad"}]}', "box.length", false)).toEqual({ kind: "values", values: ["bad"] });
});
