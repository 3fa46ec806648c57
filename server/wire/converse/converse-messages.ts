import type { ConversationRequest } from "../conversation/request.ts";
import type {
  AssistantPart,
  CacheHint,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from "../conversation/conversation-parts.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { toolInput } from "../messages/tool-input.ts";
import { withoutBlankEnd } from "../messages/write-turns.ts";
import { converseAudioBlock, converseDocumentBlock, converseImageBlock } from "./media.ts";
import { type ModelFamily, modelFamily } from "./model-family.ts";
import type { RequestReport } from "./request-report.ts";
import { ToolUseIds } from "./tool-use-ids.ts";

export interface WrittenMessages {
  readonly system: JsonObject[];
  readonly messages: JsonObject[];
  /** Names of the tools called earlier in the conversation. */
  readonly called: ReadonlySet<string>;
}

/** Blank texts are refused by the API and say nothing. */
const isBlank = (text: string): boolean => text.trim() === "";

/**
 * The conversation in Bedrock's two lists. Its rules: roles alternate, no text is blank, all results of one turn's calls
 * stand together at the front of the next turn, and only some models know cache points.
 */
export function writeConverseMessages(request: ConversationRequest, model: string, report: RequestReport): WrittenMessages {
  return new MessageWriter(modelFamily(model), report).write(request);
}

export function cachePoint({ ttl }: CacheHint): JsonObject {
  return { cachePoint: { type: "default", ...(ttl === "1h" ? { ttl } : {}) } };
}

class MessageWriter {
  private readonly family: ModelFamily;
  private readonly report: RequestReport;
  private readonly ids = new ToolUseIds();
  private readonly documents = new Map<string, number>();
  private readonly system: JsonObject[] = [];
  private readonly messages: { role: "user" | "assistant"; results: JsonObject[]; content: JsonObject[] }[] = [];
  private readonly called = new Set<string>();

  constructor(family: ModelFamily, report: RequestReport) {
    this.family = family;
    this.report = report;
  }

  write({ instructions, turns }: ConversationRequest): WrittenMessages {
    for (const part of instructions) this.text(part, this.system);
    for (const turn of turns) {
      if (turn.role === "system") {
        // Not every model takes instructions between the turns, and every model takes them before.
        if (this.messages.length > 0) this.report.drop("system_turn");
        for (const part of turn.parts) this.text(part, this.system);
      } else if (turn.role === "user") {
        for (const part of turn.parts) this.user(part);
      } else {
        for (const part of turn.parts) this.assistant(part);
      }
    }
    const last = this.messages.at(-1);
    if (last?.role === "assistant" && this.family === "claude") withoutBlankEnd(last.content);
    const messages = this.messages.map(({ role, results, content }) => ({
      role,
      content: [...results, ...(role === "user" ? withText(content, results) : content)],
    }));
    return { system: this.system, messages, called: this.called };
  }

  /** The message being written: turns of one role that follow each other are one. */
  private message(role: "user" | "assistant") {
    const last = this.messages.at(-1);
    if (last?.role === role) return last;
    const next = { role, results: [], content: [] };
    this.messages.push(next);
    return next as { role: "user" | "assistant"; results: JsonObject[]; content: JsonObject[] };
  }

  private text(part: TextPart, into: JsonObject[]): void {
    if (isBlank(part.text)) return;
    into.push({ text: part.text });
    this.cache(part.cache, into);
  }

  private cache(hint: CacheHint | undefined, into: JsonObject[]): void {
    if (hint === undefined) return;
    if (this.family === "claude" || this.family === "nova") into.push(cachePoint(this.family === "nova" ? { ttl: "5m" } : hint));
    else this.report.drop("cache");
  }

  private user(part: UserPart): void {
    if (part.kind === "text" && isBlank(part.text)) return;
    if (part.kind === "tool_result") {
      const { results } = this.message("user");
      results.push(this.toolResult(part));
      // A result has no room for cache points of its own: a mark inside it holds behind it.
      this.cache(part.cache ?? part.content.findLast(({ cache }) => cache !== undefined)?.cache, results);
      return;
    }
    const block = this.content(part);
    if (block === null) return;
    const { content } = this.message("user");
    content.push(block);
    if (part.kind !== "audio") this.cache(part.cache, content);
  }

  private content(part: Exclude<UserPart, ToolResultPart>): JsonObject | null {
    switch (part.kind) {
      case "text":
        return { text: part.text };
      case "image":
        return converseImageBlock(part, this.report);
      case "file":
        return converseDocumentBlock(part, this.documents, this.report);
      case "audio":
        return converseAudioBlock(part, this.report);
    }
  }

  private toolResult({ callId, content, isError }: ToolResultPart): JsonObject {
    const blocks: JsonObject[] = [];
    for (const part of content) {
      const block = part.kind === "text" && isBlank(part.text) ? null : this.content(part);
      if (block !== null) blocks.push(block);
    }
    // A result has to say something, and blank text is refused.
    if (blocks.length === 0) blocks.push({ text: "(no output)" });
    return { toolResult: { toolUseId: this.ids.ofResult(callId), content: blocks, ...(isError ? { status: "error" } : {}) } };
  }

  private assistant(part: AssistantPart): void {
    if (part.kind === "tool_call") {
      const { content } = this.message("assistant");
      content.push(this.toolCall(part));
      this.cache(part.cache, content);
    } else if (part.kind === "reasoning") {
      const block = this.reasoning(part);
      if (block !== null) this.message("assistant").content.push(block);
    } else if (!isBlank(part.text)) {
      const { content } = this.message("assistant");
      content.push({ text: part.text });
      if (part.kind === "text") this.cache(part.cache, content);
    }
  }

  private toolCall({ id, name, arguments: text }: ToolCallPart): JsonObject {
    this.called.add(name);
    return { toolUse: { toolUseId: this.ids.ofCall(id), name, input: toolInput(text) } };
  }

  /** Claude takes its reasoning back signed or not at all; no other model of Bedrock takes Claude's. */
  private reasoning({ text, signature, redacted }: ReasoningPart): JsonObject | null {
    if (signature?.family !== "anthropic" || this.family === "nova" || this.family === "gpt-oss") return null;
    if (redacted) return { reasoningContent: { redactedContent: signature.value } };
    return { reasoningContent: { reasoningText: { text, signature: signature.value } } };
  }
}

/** A document is only taken beside a text: where the caller wrote none, the document's own name is one. */
function withText(content: JsonObject[], results: readonly JsonObject[]): JsonObject[] {
  const document = content.find((block) => isObject(block.document))?.document;
  if (!isObject(document) || results.length > 0 || content.some((block) => typeof block.text === "string")) return content;
  return [{ text: document.name }, ...content];
}
