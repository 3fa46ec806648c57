import type { ReplyContext } from "../conversation/codec.ts";
import type { ConversationReply } from "../conversation/reply.ts";
import type { AssistantPart } from "../conversation/conversation-parts.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { readMessagesCitations } from "./citations.ts";
import { message, replyBlocks } from "./message-members.ts";
import { readMessagesStop, writeMessagesStop } from "./messages-stop.ts";
import { assistantPart } from "./read-assistant-blocks.ts";
import { messagesUsageMember } from "./usage-member.ts";
import { readMessagesUsage } from "./usage.ts";

/** Reads a complete message; null if the body is not one. Blocks of the vendor's own tools are left out. */
export function readMessagesAnswer(body: JsonObject): ConversationReply | null {
  if (!Array.isArray(body.content)) return null;
  const parts: AssistantPart[] = [];
  for (const block of body.content) {
    if (!isObject(block)) continue;
    const part = assistantPart(block, `${String(body.id ?? "")}_${parts.length}`);
    if (part !== null) parts.push(cited(part, block));
  }
  const { reason, stopSequence, stopDetail } = readMessagesStop(
    body,
    parts.some(({ kind }) => kind === "tool_call"),
  );
  return {
    id: typeof body.id === "string" ? body.id : null,
    candidates: [{ index: 0, parts, stop: reason, stopSequence, stopDetail }],
    usage: readMessagesUsage(body.usage),
  };
}

function cited(part: AssistantPart, block: JsonObject): AssistantPart {
  if (part.kind !== "text") return part;
  const citations = readMessagesCitations(block.citations, part.text.length);
  return citations.length === 0 ? part : { ...part, citations };
}

/** Writes a complete message. The format has a single candidate: the first. */
export function writeMessagesAnswer(reply: ConversationReply, context: ReplyContext): JsonObject {
  const candidate = reply.candidates[0];
  const parts = candidate?.parts ?? [];
  const content: JsonObject[] = [];
  for (const part of parts) content.push(...replyBlocks(part));
  const stop = writeMessagesStop(
    { reason: candidate?.stop ?? "end", stopSequence: candidate?.stopSequence ?? null, stopDetail: candidate?.stopDetail ?? null },
    { called: parts.some(({ kind }) => kind === "tool_call"), refused: parts.some(({ kind }) => kind === "refusal") },
  );
  return message(reply.id, context, content, stop, messagesUsageMember(reply.usage));
}
