import { expect, test } from "bun:test";
import type { ToolTarget } from "../../../road/target.ts";
import { refuseAnswerSize } from "./answer-size.ts";

const target = { limits: { maxPayloadBytes: null, maxItems: null, maxRows: 10 } } as ToolTarget;

test("rows are counted in answers with any number of texts", () => {
  const block = { type: "text", text: "" };
  const content = Array.from({ length: 1_200_000 }, () => block);
  expect(refuseAnswerSize(target, "", { content })).toBeNull();
  const rows = Array.from({ length: 11 }, () => 1);
  expect(refuseAnswerSize(target, "", { content: [...content, { type: "text", text: JSON.stringify(rows) }] })).toMatchObject({
    code: "tool_result_too_large",
  });
});
