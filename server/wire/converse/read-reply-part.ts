import type { AssistantPart } from "../conversation/conversation-parts.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { objectsOf, stringOf } from "../openai/loose-fields.ts";
import { readConverseCitations } from "./citations.ts";
import { newToolUseId } from "./tool-use-ids.ts";

export function readConversePart(block: JsonValue, position: number): AssistantPart | null {
  if (!isObject(block)) return null;
  if (typeof block.text === "string") return textPart(block.text);
  if (isObject(block.toolUse)) return toolCall(block.toolUse, position);
  if (isObject(block.reasoningContent)) return reasoning(block.reasoningContent);
  return isObject(block.citationsContent) ? citedText(block.citationsContent) : null;
}

function textPart(text: string): AssistantPart | null {
  return text === "" ? null : { kind: "text", text };
}

function citedText({ content, citations: given }: JsonObject): AssistantPart | null {
  const text = objectsOf(content)
    .map(([piece]) => stringOf(piece.text) ?? "")
    .join("");
  const citations = readConverseCitations(given, text.length);
  return text === "" ? null : { kind: "text", text, ...(citations.length > 0 && { citations }) };
}

function toolCall(toolUse: JsonObject, position: number): AssistantPart | null {
  // Called and answered by Bedrock itself, so not meant for the caller.
  if (toolUse.type === "server_tool_use" || typeof toolUse.name !== "string") return null;
  const id = typeof toolUse.toolUseId === "string" && toolUse.toolUseId !== "" ? toolUse.toolUseId : newToolUseId(position);
  return { kind: "tool_call", id, name: toolUse.name, arguments: JSON.stringify(isObject(toolUse.input) ? toolUse.input : {}) };
}

function reasoning({ reasoningText, redactedContent }: JsonObject): AssistantPart | null {
  if (typeof redactedContent === "string" && redactedContent !== "") {
    return { kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value: redactedContent } };
  }
  if (!isObject(reasoningText)) return null;
  const text = typeof reasoningText.text === "string" ? reasoningText.text : "";
  const signature = typeof reasoningText.signature === "string" && reasoningText.signature !== "" ? reasoningText.signature : null;
  if (text === "" && signature === null) return null;
  // Of Bedrock's models only Claude signs its reasoning; its signatures are valid on every platform.
  return {
    kind: "reasoning",
    text,
    redacted: false,
    ...(signature === null ? {} : { signature: { family: "anthropic", value: signature } }),
  };
}
