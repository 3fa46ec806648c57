import type { ReplyContext } from "../conversation/codec.ts";
import type { Candidate, ConversationReply, PicturePart } from "../conversation/reply.ts";
import type { JsonObject } from "../document.ts";
import { chatFinishReason, refusalNote } from "./chat-stop.ts";
import { UniqueCallIds } from "../conversation/unique-call-ids.ts";
import { chatUsageMember } from "./usage.ts";

/**
 * A whole chat completion. Beside OpenAI's own members a message may carry `reasoning_content`, as most servers of this
 * format do, `images` as OpenRouter gives them, and a choice `stop_detail`: what the provider said about a refusal, a filter or a call it
 * could not form.
 */
export function writeChatAnswer(reply: ConversationReply, context: ReplyContext): JsonObject {
  const body: JsonObject = {
    id: reply.id ?? `chatcmpl-${context.callId}`,
    object: "chat.completion",
    created: context.created,
    model: context.model,
    choices: reply.candidates.map(choiceMember),
  };
  if (reply.usage !== null) body.usage = chatUsageMember(reply.usage);
  return body;
}

function choiceMember(candidate: Candidate): JsonObject {
  let text = "";
  let texts = 0;
  let reasoning = "";
  let refusal = refusalNote(candidate) ?? "";
  const calls: JsonObject[] = [];
  const images: JsonObject[] = [];
  const ids = new UniqueCallIds();
  for (const part of candidate.parts) {
    if (part.kind === "text") {
      text += part.text;
      texts++;
    } else if (part.kind === "reasoning") reasoning += part.text;
    else if (part.kind === "refusal") refusal += part.text;
    else if (part.kind === "picture") images.push(imageMember(part, images.length));
    else calls.push({ id: ids.of(part.id), type: "function", function: { name: part.name, arguments: part.arguments } });
  }
  const message: JsonObject = {
    role: "assistant",
    content: texts > 0 || (calls.length === 0 && refusal === "") ? text : null,
    refusal: refusal === "" ? null : refusal,
  };
  if (reasoning !== "") message.reasoning_content = reasoning;
  if (images.length > 0) message.images = images;
  if (calls.length > 0) message.tool_calls = calls;
  const choice: JsonObject = {
    index: candidate.index,
    message,
    logprobs: null,
    finish_reason: chatFinishReason(
      candidate.stop,
      candidate.parts.some(({ kind }) => kind === "refusal"),
    ),
  };
  if (candidate.stopSequence !== null) choice.stop_reason = candidate.stopSequence;
  if (candidate.stopDetail !== null) choice.stop_detail = candidate.stopDetail;
  return choice;
}

export function imageMember({ mediaType, base64 }: Pick<PicturePart, "mediaType" | "base64">, index: number): JsonObject {
  return { index, type: "image_url", image_url: { url: `data:${mediaType};base64,${base64}` } };
}
