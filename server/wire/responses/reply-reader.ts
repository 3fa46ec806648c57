import type { ConversationReply, ReplyPart, StopReason } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { newCallId } from "../openai/call-id.ts";
import { filledOf, objectOf, objectsOf } from "../openai/loose-fields.ts";
import { servedByOpenAi } from "../serving.ts";
import { callPart, outputMessageParts, picturePart, reasoningPart } from "./output-item-reader.ts";
import { readResponsesUsage } from "./usage.ts";

/** Reads a complete response; null if it is not one, or has failed or not ended. */
export function readResponsesAnswer(body: JsonObject): ConversationReply | null {
  if (!Array.isArray(body.output) || (body.status !== undefined && body.status !== "completed" && body.status !== "incomplete"))
    return null;
  const id = filledOf(body.id);
  const parts = outputParts(body.output, id);
  return {
    id,
    candidates: [{ index: 0, parts, stop: responsesStopReason(body, parts), stopSequence: null, stopDetail: null }],
    usage: servedByOpenAi(readResponsesUsage(body.usage), body.service_tier),
  };
}

/** The parts of the output, in order; items of tools that the gateway did not request are left out. */
export function outputParts(output: unknown, id: string | null): ReplyPart[] {
  const parts: ReplyPart[] = [];
  for (const [item, place] of objectsOf(output)) {
    if (item.type === "message") parts.push(...outputMessageParts(item.content));
    const part =
      item.type === "reasoning"
        ? reasoningPart(item)
        : item.type === "function_call"
          ? callPart(item, () => newCallId(id, place))
          : picturePart(item);
    if (part !== null) parts.push(part);
  }
  return parts;
}

/** The stop reason, from the final response and the kinds of its parts. */
export function responsesStopReason(response: JsonObject, parts: readonly { readonly kind: string }[]): StopReason {
  const refused = parts.some(({ kind }) => kind === "refusal");
  if (response.status === "incomplete")
    return objectOf(response.incomplete_details)?.reason !== "content_filter" ? "length" : refused ? "refusal" : "filtered";
  if (parts.some(({ kind }) => kind === "tool_call")) return "tool_call";
  return refused ? "refusal" : "end";
}
