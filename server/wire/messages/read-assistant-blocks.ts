import type { AssistantPart } from "../conversation/conversation-parts.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { MessagesReadReport } from "./losses.ts";
import { blocksOf, blockText, cacheOf, dropUnread, refuseBlock } from "./read-blocks.ts";

export function readAssistantParts(content: JsonValue | undefined, path: string, losses: MessagesReadReport): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const [block, at] of blocksOf(content, path)) {
    dropUnread(block, at, losses);
    const part = assistantPart(block, at);
    if (part !== null) parts.push(part);
    else refuseBlock(block, at, losses);
  }
  return parts;
}

/** Reads an assistant's block; null if other formats have no equivalent. `path` determines the ID of a call without one. */
export function assistantPart(block: JsonObject, path: string): AssistantPart | null {
  switch (block.type) {
    case "text":
      return { kind: "text", text: blockText(block.text) ?? "", ...cacheOf(block) };
    case "thinking": {
      const signature = blockText(block.signature);
      return {
        kind: "reasoning",
        text: blockText(block.thinking) ?? "",
        redacted: false,
        ...(signature ? { signature: { family: "anthropic", value: signature } } : {}),
      };
    }
    case "redacted_thinking":
      return { kind: "reasoning", text: "", redacted: true, signature: { family: "anthropic", value: blockText(block.data) ?? "" } };
    case "tool_use":
      return {
        kind: "tool_call",
        id: blockText(block.id) || callIdAt(path),
        name: blockText(block.name) ?? "",
        arguments: JSON.stringify(isObject(block.input) ? block.input : {}),
        ...cacheOf(block),
      };
    default:
      return null;
  }
}

/** An ID for a call without one, derived from its position. */
export function callIdAt(path: string): string {
  return `call_${path.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_|_$/g, "")}`;
}
