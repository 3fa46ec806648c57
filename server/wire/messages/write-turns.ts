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
  /** Instructions found at the head of the conversation, or with no place inside it: they belong into `system`. */
  readonly instructions: readonly TextPart[];
  readonly messages: JsonObject[];
}

/**
 * The turns as messages, under the rules whose breach the vendor refuses: turns of one role stand as one message, the
 * results of a turn's calls stand first in the user message right behind it, no block is blank, and a system message
 * stands directly behind a user message and before an assistant's or the end. `systemTurns`: whether the model takes
 * system messages inside a conversation at all.
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
  /** Puts the instructions that wait for a user message behind it, if one stands there now. */
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

/** An answer that a Claude is to go on with may not end in blanks, which it refuses. */
export function withoutBlankEnd(blocks: readonly JsonObject[]): void {
  const last = blocks.at(-1);
  if (typeof last?.text === "string") last.text = last.text.trimEnd();
}

/** Text blocks of the parts that hold more than blanks. */
export function textBlocks(parts: readonly TextPart[]): JsonObject[] {
  return parts.flatMap(messagesTextBlock);
}

function resultsFirst(blocks: JsonObject[]): JsonObject[] {
  const isResult = (block: JsonObject) => block.type === "tool_result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

/** Thoughts pass only with this vendor's signature: it refuses unsigned ones and those of others. */
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
