import { type Refusal, refuse } from "../../kernel/errors.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import type { Call } from "../../road/call.ts";
import { outputFormOf } from "../../road/output/answer-formats.ts";
import type { Exchange } from "../../road/surface.ts";
import type { Answer } from "../../road/answer.ts";
import { GatedStream } from "./gated-stream.ts";
import { ToolCallGate } from "./tool-call-gate.ts";

/** Holds the tool calls of a model's answer to the argument policies of the caller's group. */
export function governToolCalls(call: Call, { conversation }: Exchange, answer: Answer): Answer | Refusal {
  if (conversation === undefined || answer.status >= 300 || call.scope === null || call.scope.toolCallPolicies.size === 0) return answer;
  const { texts, framing } = outputFormOf(conversation);
  const gate = new ToolCallGate(call, texts);
  if (answer.kind === "whole") {
    const body = replyObject(answer.body);
    if (body === null) return refuse("upstream_invalid_response");
    return gate.whole(body) ?? answer;
  }
  const codec = new GatedStream(answer.codec, gate, framing);
  const head = answer.head.map((piece) => codec.pass(piece)).filter((piece) => piece !== null);
  return { ...answer, codec, head, refusal: (ended) => answer.refusal?.(ended) ?? codec.refusal(ended) };
}
