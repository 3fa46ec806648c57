import { expect, test } from "bun:test";
import { z } from "zod";
import { Refused } from "../../kernel/errors.ts";
import { check } from "./strict-input.ts";

const body = z.strictObject({
  name: z.string(),
  enabled: z.boolean().optional(),
  list: z.array(z.string()).optional(),
  inner: z.strictObject({ on: z.boolean() }).optional(),
});

function fieldsOf(value: unknown) {
  try {
    check(body, value, "invalid_body");
  } catch (error) {
    if (error instanceof Refused) return error.refusal.fields;
  }
  throw new Error("the value was taken");
}

test("a value of the wrong type, a missing one and an unknown one have different messages", () => {
  expect(fieldsOf({ enabled: "yes", list: "x", inner: { on: null } })).toEqual([
    { field: "name", message: "is required" },
    { field: "enabled", message: "Invalid input: expected boolean, received string" },
    { field: "list", message: "Invalid input: expected array, received string" },
    { field: "inner.on", message: "Invalid input: expected boolean, received null" },
  ]);
  expect(fieldsOf({ name: "n", inner: {} })).toEqual([{ field: "inner.on", message: "is required" }]);
  expect(fieldsOf({ name: "n", nmae: 1 })).toEqual([{ field: "nmae", message: "is not known here" }]);
});
