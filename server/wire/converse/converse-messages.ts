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
import { NO_CITATIONS } from "../conversation/media-losses.ts";
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
  /** The names of tools called earlier in the conversation. */
  readonly called: ReadonlySet<string>;
}

/** The API refuses blank texts. */
const isBlank = (text: string): boolean => text.trim() === "";

/**
 * Writes the conversation as `system` and `messages`. Bedrock requires alternating roles, no blank texts, and all results
 * of one turn's calls at the start of the next turn; only some models support cache points.
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
        // Not every model accepts instructions between turns, but all accept them at the start.
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

  /** The current message: consecutive turns of the same role are merged. */
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
      // Results cannot contain cache points, so one inside a result is moved after it.
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
        if (part.cited === true && this.family !== "claude") this.report.refuse("citations", NO_CITATIONS);
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
    // A result must have content, and blank text is refused.
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

  /** Claude accepts only signed reasoning; the other models on Bedrock do not accept Claude's. */
  private reasoning({ text, signature, redacted }: ReasoningPart): JsonObject | null {
    if (signature?.family !== "anthropic" || this.family === "nova" || this.family === "gpt-oss") return null;
    if (redacted) return { reasoningContent: { redactedContent: signature.value } };
    return { reasoningContent: { reasoningText: { text, signature: signature.value } } };
  }
}

/** A document requires a text block: if the caller wrote none, the document's name is used. */
function withText(content: JsonObject[], results: readonly JsonObject[]): JsonObject[] {
  const document = content.find((block) => isObject(block.document))?.document;
  if (!isObject(document) || results.length > 0 || content.some((block) => typeof block.text === "string")) return content;
  return [{ text: document.name }, ...content];
}
