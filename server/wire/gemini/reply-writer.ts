import type { ReplyContext } from "../conversation/codec.ts";
import type { Candidate, ConversationReply, PicturePart } from "../conversation/reply.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { Usage } from "../usage.ts";
import { writeAssistantPart } from "./assistant-writer.ts";
import { writeGeminiStop } from "./finish-reasons.ts";
import { groundedText, GroundingWriter } from "./grounding-writer.ts";
import { isMalformedCall, MALFORMED } from "./malformed-call.ts";
import { member, objectIn } from "./members.ts";
import { writeGeminiUsage } from "./usage.ts";

export function writeGeminiAnswer(reply: ConversationReply, context: ReplyContext): JsonObject {
  const visible = showsThoughts(context.request);
  return envelope(
    reply.candidates.map((candidate) => writeCandidate(candidate, visible)),
    reply.usage,
    reply.id,
    context,
  );
}

/** One body of an answer: a complete one, or a piece of a stream. */
export function envelope(candidates: JsonObject[], usage: Usage | null, id: string | null, context: ReplyContext): JsonObject {
  return {
    candidates,
    ...(usage !== null && { usageMetadata: writeGeminiUsage(usage) }),
    modelVersion: context.model,
    responseId: id ?? context.callId,
  };
}

/** Callers that did not request thoughts would take the first part for the answer. */
export function showsThoughts(request: JsonObject): boolean {
  const config = objectIn(request, "generationConfig");
  const thinking = config === null ? undefined : member(config, "thinkingConfig");
  return isObject(thinking) && member(thinking, "includeThoughts") === true;
}

export function pictureMember({ mediaType, base64 }: Pick<PicturePart, "mediaType" | "base64">): JsonObject {
  return { inlineData: { mimeType: mediaType, data: base64 } };
}

function writeCandidate(candidate: Candidate, visible: boolean): JsonObject {
  const shown = candidate.parts.filter((part) => !isMalformedCall(part) && (visible || part.kind !== "reasoning"));
  const parts: JsonObject[] = [];
  const grounding = new GroundingWriter();
  for (const part of shown) {
    const written = part.kind === "picture" ? pictureMember(part) : writeAssistantPart(part);
    if (written === null) continue;
    if (part.kind === "text" && part.citations !== undefined) {
      const grounded = groundedText(part.text, parts.length);
      for (const citation of part.citations) grounding.add(citation, grounded);
    }
    parts.push(written);
  }
  const { stop, stopDetail } = candidate.stop === "tool_call" && candidate.parts.some(isMalformedCall) ? MALFORMED : candidate;
  const withheld = parts.length === 0 && (stop === "filtered" || stop === "refusal");
  // Clients access the first part without checking that it exists.
  const content = { parts: parts.length === 0 ? [{ text: "" }] : parts, role: "model" };
  return { ...(withheld ? {} : { content }), ...writeGeminiStop(stop, stopDetail), ...grounding.member(), index: candidate.index };
}
