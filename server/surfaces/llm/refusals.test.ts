import { expect, test } from "bun:test";
import { refuse } from "../../kernel/errors.ts";
import { messageOf } from "./refusals.ts";

test("each invalid field is named in a readable sentence", () => {
  const fields = (message: string) => ({ fields: [{ field: "n", message }] });
  expect(messageOf(refuse("invalid_body", undefined, fields("must be a whole number")))).toBe(
    "The request body is not valid. `n` must be a whole number.",
  );
  expect(messageOf(refuse("unsupported_parameter", undefined, fields("this model's provider gives one answer at a time")))).toBe(
    "The model's provider does not support everything the request asks for. `n`: this model's provider gives one answer at a time.",
  );
});
