import type { Turn } from "../conversation/request.ts";
import type { AssistantPart, TextPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { ToolIds } from "./tool-ids.ts";
import { toolInput } from "./tool-input.ts";
import { cacheControl, contentOf, messagesTextBlock, messagesUserBlock, type MessagesWriteReport } from "./write-blocks.ts";

interface Message {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: JsonObject[];
}

export interface WrittenTurns {
  /** Instructions for `system`: those at the start of the conversation, and those that cannot stay inside it. */
  readonly instructions: readonly TextPart[];
  readonly messages: JsonObject[];
}

/**
 * Writes turns as messages by the vendor's rules: consecutive turns of one role are merged, the results of a turn's calls
 * come first in the next user message, no block is blank, and a system message directly follows a user message and
 * precedes an assistant message or the end. `systemTurns`: whether the model accepts system messages within a
 * conversation.
 */
export function writeTurns(turns: readonly Turn[], systemTurns: boolean, shortfall: MessagesWriteReport): WrittenTurns {
  const messages: Message[] = [];
  const instructions: TextPart[] = [];
  const ids = new ToolIds();
  let waiting: TextPart[] = [];

  const add = (role: Message["role"], blocks: JsonObject[]) => {
    if (blocks.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else messages.push({ role, blocks });
  };
  /** Adds pending instructions after the last message, if that is a user message. */
  const settle = () => {
    if (messages.at(-1)?.role !== "user") return;
    add("system", textBlocks(waiting));
    waiting = [];
  };

  for (const turn of turns) {
    if (turn.role === "system") {
      if (messages.length === 0) instructions.push(...turn.parts);
      else if (systemTurns) waiting.push(...turn.parts);
      else {
        instructions.push(...turn.parts);
        shortfall.dropped.add("system_turn");
      }
    } else if (turn.role === "user") {
      add(
        "user",
        turn.parts.flatMap((part) => messagesUserBlock(part, ids, shortfall)),
      );
    } else {
      settle();
      add(
        "assistant",
        turn.parts.flatMap((part) => assistantBlock(part, ids)),
      );
    }
  }
  settle();
  if (waiting.length > 0) {
    instructions.push(...waiting);
    shortfall.dropped.add("system_turn");
  }
  const last = messages.at(-1);
  if (last?.role === "assistant") withoutBlankEnd(last.blocks);
  return { instructions, messages: messages.map(({ role, blocks }) => ({ role, content: contentOf(resultsFirst(blocks)) })) };
}

/** Claude refuses to continue an answer that ends with white space. */
export function withoutBlankEnd(blocks: readonly JsonObject[]): void {
  const last = blocks.at(-1);
  if (typeof last?.text === "string") last.text = last.text.trimEnd();
}

/** Text blocks for the parts that are not blank. */
export function textBlocks(parts: readonly TextPart[]): JsonObject[] {
  return parts.flatMap(messagesTextBlock);
}

function resultsFirst(blocks: JsonObject[]): JsonObject[] {
  const isResult = (block: JsonObject) => block.type === "tool_result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

/** Thinking is sent only with this vendor's signature: it refuses unsigned thinking and that of others. */
function assistantBlock(part: AssistantPart, ids: ToolIds): JsonObject[] {
  switch (part.kind) {
    case "text":
      return messagesTextBlock(part);
    case "refusal":
      return messagesTextBlock({ kind: "text", text: part.text });
    case "reasoning": {
      const signature = part.signature?.family === "anthropic" ? part.signature.value : "";
      if (signature === "") return [];
      return [part.redacted ? { type: "redacted_thinking", data: signature } : { type: "thinking", thinking: part.text, signature }];
    }
    case "tool_call":
      return [
        { type: "tool_use", id: ids.ofCall(part.id), name: part.name, input: toolInput(part.arguments), ...cacheControl(part.cache) },
      ];
  }
}
