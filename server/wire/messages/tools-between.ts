import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/** Blocks within messages that add tools, including those listed in a compaction. */
function* toolBlocks(content: JsonValue | undefined): Generator<JsonObject> {
  if (!Array.isArray(content)) return;
  for (const block of content) {
    if (!isObject(block)) continue;
    if (block.type === "tool_addition" || block.type === "mcp_tool_listing") yield block;
    if (block.type === "compaction") yield* toolBlocks(block.tool_changes);
  }
}

function messagesOf(body: JsonObject): JsonObject[] {
  return Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
}

/** The tool definitions in blocks within messages, in order. */
export function definitionsBetween(body: JsonObject): JsonValue[] {
  const definitions: JsonValue[] = [];
  for (const { content } of messagesOf(body))
    for (const block of toolBlocks(content)) definitions.push(block.tool ?? null, block.tools ?? null);
  return definitions;
}

/** The definition or reference that a block adds to the tools; null if it adds none. */
function addedBy(block: JsonValue): JsonObject | null {
  if (!isObject(block) || block.type !== "tool_addition" || !isObject(block.tool)) return null;
  return isObject(block.tool.definition) ? block.tool.definition : block.tool;
}

/** Tools added within messages, by their definition or reference. */
export function toolsBetween(body: JsonObject): JsonObject[] {
  const blocks = messagesOf(body).flatMap(({ content }) => [...toolBlocks(content)]);
  return blocks.map(addedBy).filter((tool) => tool !== null);
}

/** Removes the blocks whose tool `isGone`, and messages left empty by that. Returns whether there were any. */
export function removeToolsBetween(body: JsonObject, isGone: (tool: JsonValue) => boolean): boolean {
  let changed = false;
  const left = (blocks: JsonValue[]): JsonValue[] => {
    const kept = blocks.filter((block) => {
      const added = addedBy(block);
      return added === null || !isGone(added);
    });
    changed ||= kept.length < blocks.length;
    for (const block of kept)
      if (isObject(block) && block.type === "compaction" && Array.isArray(block.tool_changes))
        block.tool_changes = left(block.tool_changes);
    return kept;
  };
  for (const message of messagesOf(body)) if (Array.isArray(message.content)) message.content = left(message.content);
  if (changed)
    body.messages = (body.messages as JsonValue[]).filter(
      (message) => !isObject(message) || !Array.isArray(message.content) || message.content.length > 0,
    );
  return changed;
}
