import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { isForeignCitation } from "./citations.ts";
import { isTakenId, ToolIds } from "./tool-ids.ts";

/**
 * Adapts a history with answers of other models to Claude: removes unsigned thinking and other vendors' citations, and replaces
 * call IDs it does not accept. Null if nothing has to change, and for models other than Claude.
 */
export function historyForClaude(messages: JsonValue | undefined, model: string): JsonValue[] | null {
  if (!model.includes("claude") || !Array.isArray(messages)) return null;
  const blocks = messages.flatMap(blocksOf);
  const ids = blocks.every((block) => block.type !== "tool_use" || isTakenId(block.id)) ? null : new ToolIds();
  if (ids === null && !blocks.some((block) => isUnsigned(block) || hasForeignCitation(block))) return null;
  return messages.flatMap((message): JsonValue[] => {
    if (!isObject(message) || !Array.isArray(message.content)) return [message];
    const content = message.content.flatMap((block): JsonValue[] => {
      if (!isObject(block)) return [block];
      if (isUnsigned(block)) return [];
      const own = hasForeignCitation(block) ? withoutForeignCitations(block) : block;
      return [ids === null ? own : renamed(own, ids)];
    });
    return content.length === 0 && message.content.length > 0 ? [] : [{ ...message, content }];
  });
}

/**
 * Whether the request continues a tool loop whose calls are not preceded by thinking. A Claude with a thinking budget
 * refuses to think in the middle of one.
 */
export function isContinuedWithoutThinking(messages: readonly JsonValue[]): boolean {
  const at = messages.findLastIndex((message) => isObject(message) && message.role === "assistant");
  const hasResult = messages.slice(at + 1).some((message) => blocksOf(message).some(({ type }) => type === "tool_result"));
  return hasResult && !blocksOf(messages[at] ?? null).some(({ type }) => type === "thinking" || type === "redacted_thinking");
}

function blocksOf(message: JsonValue): JsonObject[] {
  return isObject(message) && Array.isArray(message.content) ? message.content.filter(isObject) : [];
}

/** The form in which the gateway writes thinking of other vendors. */
function isUnsigned(block: JsonObject): boolean {
  return block.type === "thinking" && block.signature === "";
}

const hasForeignCitation = ({ citations }: JsonObject): boolean => Array.isArray(citations) && citations.some(isForeignCitation);

function withoutForeignCitations(block: JsonObject): JsonObject {
  const { citations, ...rest } = block;
  const own = Array.isArray(citations) ? citations.filter((citation) => !isForeignCitation(citation)) : [];
  return own.length === 0 ? rest : { ...rest, citations: own };
}

function renamed(block: JsonObject, ids: ToolIds): JsonObject {
  if (block.type === "tool_use" && typeof block.id === "string") return { ...block, id: ids.ofCall(block.id) };
  if (block.type === "tool_result" && typeof block.tool_use_id === "string")
    return { ...block, tool_use_id: ids.ofResult(block.tool_use_id) };
  return block;
}
