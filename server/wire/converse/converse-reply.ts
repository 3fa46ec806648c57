import type { ConversationReply } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/conversation-parts.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { servedByBedrock } from "../serving.ts";
import { readConversePart } from "./read-reply-part.ts";
import { converseStop } from "./stop.ts";
import { readConverseUsage } from "./usage.ts";

/** Reads a complete answer; null if the body is not one. Content of Bedrock's own tools is left out. */
export function readConverseReply(body: JsonObject): ConversationReply | null {
  const message = isObject(body.output) ? body.output.message : undefined;
  if (!isObject(message) || !Array.isArray(message.content)) return null;
  const parts: AssistantPart[] = [];
  for (const block of message.content) {
    const part = readConversePart(block, parts.length);
    if (part !== null) parts.push(part);
  }
  const { reason, stopSequence, stopDetail } = converseStop(
    body,
    parts.some(({ kind }) => kind === "tool_call"),
  );
  const usage = servedByBedrock(readConverseUsage(body.usage), body.serviceTier);
  return { id: null, candidates: [{ index: 0, parts, stop: reason, stopSequence, stopDetail }], usage };
}
