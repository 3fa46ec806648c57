import { refuse } from "../../kernel/errors.ts";
import { inTurns } from "../../kernel/scheduling/in-turns.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { contentWorkOf } from "../../road/policy/content-work.ts";
import type { StreamAnswer } from "../../road/answer.ts";
import type { AnswerControl } from "../../road/control.ts";
import { callFormOfExchange } from "../../road/output/answer-formats.ts";
import { passedHead } from "../../road/output/wrapped-stream.ts";
import { GatedStream } from "./gated-stream.ts";
import { ToolCallGate } from "./tool-call-gate.ts";

/** Checks the tool calls of a model's answer against the argument policies of the caller's group. */
export const generatedToolCalls: AnswerControl = {
  name: "argument policies",
  prepare(call, exchange) {
    const form = callFormOfExchange(exchange);
    if (form === null || call.scope === null || call.scope.toolCallPolicies.size === 0) return null;
    const { texts, framing } = form;
    return (answer) => {
      if (answer.status >= 300) return answer;
      const gate = new ToolCallGate(call, texts);
      const work = contentWorkOf(call);
      if (answer.kind === "whole") {
        const body = replyObject(answer.body);
        if (body === null) return refuse("upstream_invalid_response");
        const judged = inTurns(gate.whole(body, answer.body), work);
        return judged instanceof Promise ? judged.then((refusal) => refusal ?? answer) : (judged ?? answer);
      }
      const codec = new GatedStream(answer.codec, gate, framing);
      const from = (head: readonly Uint8Array[]): StreamAnswer => ({
        ...answer,
        codec,
        head,
        refusal: (ended) => answer.refusal?.(ended) ?? codec.refusal(ended),
      });
      const head = inTurns(passedHead(codec, answer.head), work);
      return head instanceof Promise ? head.then(from) : from(head);
    };
  },
};
