import { expect, test } from "bun:test";
import { responsesAnswerTexts } from "../../wire/responses/responses-answer-texts.ts";
import { CallCount } from "./call-count.ts";

const REQUESTED = { type: "mcp_approval_request", id: "a", server_label: "s", name: "run_sql", arguments: '{"query":"delete from t"}' };

test("a provider-side call awaiting the caller's approval is inspected as a call, and counted when it is made", () => {
  const asking = responsesAnswerTexts.contents({ output: [REQUESTED] }, true);
  expect(asking.calls).toMatchObject([{ name: "run_sql", place: { key: "arguments" }, form: "whole" }]);
  const streamed = responsesAnswerTexts.contents({ type: "response.output_item.done", output_index: 0, item: REQUESTED }, false);
  expect(streamed.calls).toMatchObject([{ name: "run_sql", form: "whole" }]);
  const count = new CallCount();
  count.add(asking);
  expect(count.made).toBe(0);
  count.add(responsesAnswerTexts.contents({ output: [{ ...REQUESTED, type: "mcp_call" }] }, true));
  expect(count.made).toBe(1);
});
