import type { AssistantPart, Signature } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { exactObject } from "../json/exact-tools.ts";

/** Writes a model's part; null if it has no content that Google accepts. */
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

/** Google refuses empty texts, but may itself sign one. */
function textPart(text: string, marks: JsonObject, signature: Signature | undefined): JsonObject | null {
  const signed = thoughtSignature(signature);
  return text === "" && signed.thoughtSignature === undefined ? null : { text, ...marks, ...signed };
}

/** Signatures of another family are dropped. */
export function thoughtSignature(signature: Signature | undefined): { thoughtSignature?: string } {
  return signature?.family === "gemini" ? { thoughtSignature: signature.value } : {};
}

/** A call's arguments as an object, as the format requires; null if they are not one. An empty text means no arguments. */
export function argumentsOf(text: string): JsonObject | null {
  return text.trim() === "" ? {} : exactObject(text);
}
