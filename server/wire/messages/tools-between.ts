import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";

/** Blocks among the messages that bring tools along, and those of tools a summary carries on. */
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

/** The definitions in blocks among the messages, in the places where they stand. */
export function definitionsBetween(body: JsonObject): JsonValue[] {
  const definitions: JsonValue[] = [];
  for (const { content } of messagesOf(body))
    for (const block of toolBlocks(content)) definitions.push(block.tool ?? null, block.tools ?? null);
  return definitions;
}

/** What a block adds to the tools on offer: its definition, or what points at one; null where it adds none. */
function addedBy(block: JsonValue): JsonObject | null {
  if (!isObject(block) || block.type !== "tool_addition" || !isObject(block.tool)) return null;
  return isObject(block.tool.definition) ? block.tool.definition : block.tool;
}

/** Tools that are put on offer between the messages, by what names them. */
export function toolsBetween(body: JsonObject): JsonObject[] {
  const blocks = messagesOf(body).flatMap(({ content }) => [...toolBlocks(content)]);
  return blocks.map(addedBy).filter((tool) => tool !== null);
}

/** Takes the blocks out whose tool `isTenantDeleted`, and messages in which nothing else stood. Whether there was one. */
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
