import { refuse } from "../../kernel/errors.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { AnswerControl } from "../../road/control.ts";
import { outputFormOf } from "../../road/output/answer-formats.ts";
import { GatedStream } from "./gated-stream.ts";
import { ToolCallGate } from "./tool-call-gate.ts";

/** Holds the tool calls of a model's answer to the argument policies of the caller's group. */
export const generatedToolCalls: AnswerControl = {
  name: "argument policies",
  prepare(call, { conversation }) {
    if (conversation === undefined || call.scope === null || call.scope.toolCallPolicies.size === 0) return null;
    const { texts, framing } = outputFormOf(conversation);
    return (answer) => {
      if (answer.status >= 300) return answer;
      const gate = new ToolCallGate(call, texts);
      if (answer.kind === "whole") {
        const body = replyObject(answer.body);
        return body === null ? refuse("upstream_invalid_response") : (gate.whole(body) ?? answer);
      }
      const codec = new GatedStream(answer.codec, gate, framing);
      const head = answer.head.map((piece) => codec.pass(piece)).filter((piece) => piece !== null);
      return { ...answer, codec, head, refusal: (ended) => answer.refusal?.(ended) ?? codec.refusal(ended) };
    };
  },
};
