import type { PicturePart } from "../conversation/reply.ts";
import type { AssistantPart, ReasoningPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { argumentsText } from "../openai/chat-assistant-reader.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";

/** Between two parts of a reasoning's summary. */
export const PARAGRAPH = "\n\n";

/** The parts of an assistant's message; other kinds of content are left out. */
export function messageParts(content: unknown): AssistantPart[] {
  const plain = filledOf(content);
  if (plain !== null) return [{ kind: "text", text: plain }];
  const parts: AssistantPart[] = [];
  for (const [part] of objectsOf(content)) {
    const refusal = filledOf(part.refusal);
    const text = filledOf(part.text);
    if (part.type === "refusal") {
      if (refusal !== null) parts.push({ kind: "refusal", text: refusal });
    } else if (text !== null) parts.push({ kind: "text", text });
  }
  return parts;
}

/** A reasoning item; null when it holds neither a text nor something to send back. */
export function reasoningPart(item: JsonObject): ReasoningPart | null {
  const text = joined(item.summary) || joined(item.content);
  const sealed = filledOf(item.encrypted_content);
  if (text === "" && sealed === null) return null;
  return { kind: "reasoning", text, ...(sealed === null ? {} : { signature: { family: "openai", value: sealed } }), redacted: text === "" };
}

/** A function call; null when it has no name. */
export function callPart(item: JsonObject, mint: () => string): AssistantPart | null {
  const name = filledOf(item.name);
  return name === null
    ? null
    : { kind: "tool_call", id: filledOf(item.call_id) ?? filledOf(item.id) ?? mint(), name, arguments: argumentsText(item.arguments) };
}

/** What the vendor's picture tool made; null when it made nothing. */
export function picturePart(item: JsonObject): PicturePart | null {
  const base64 = item.type === "image_generation_call" ? filledOf(item.result) : null;
  return base64 === null ? null : { kind: "picture", mediaType: `image/${filledOf(item.output_format) ?? "png"}`, base64 };
}

function joined(parts: unknown): string {
  const texts: string[] = [];
  for (const [part] of objectsOf(parts)) {
    const text = filledOf(part.text);
    if (text !== null) texts.push(text);
  }
  return texts.join(PARAGRAPH);
}
