import type { AssistantPart, Signature } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { exactObject } from "../json/exact-tools.ts";

/** A part of the model's; null for what has nothing in it that Google would take. */
export function writeAssistantPart(part: AssistantPart): JsonObject | null {
  switch (part.kind) {
    case "text":
      return textPart(part.text, {}, part.signature);
    case "refusal":
      return textPart(part.text, {}, undefined);
    case "reasoning":
      return part.redacted ? null : textPart(part.text, { thought: true }, part.signature);
    case "tool_call": {
      const args = argumentsOf(part.arguments) ?? { input: part.arguments };
      return { functionCall: { id: part.id, name: part.name, args }, ...thoughtSignature(part.signature) };
    }
    default:
      return part satisfies never;
  }
}

/** Google refuses empty texts, but may itself put a signature on one. */
function textPart(text: string, marks: JsonObject, signature: Signature | undefined): JsonObject | null {
  const signed = thoughtSignature(signature);
  return text === "" && signed.thoughtSignature === undefined ? null : { text, ...marks, ...signed };
}

/** Another family's signature means nothing here. */
export function thoughtSignature(signature: Signature | undefined): { thoughtSignature?: string } {
  return signature?.family === "gemini" ? { thoughtSignature: signature.value } : {};
}

/** A call's arguments as the object they must be here; null when they are none. No text at all means no arguments. */
export function argumentsOf(text: string): JsonObject | null {
  return text.trim() === "" ? {} : exactObject(text);
}
