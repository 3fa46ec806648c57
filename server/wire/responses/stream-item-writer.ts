import type { Citation } from "../conversation/citations.ts";
import { ANNOTATION_UNIT, responseAnnotation } from "../openai/annotations.ts";
import { TextPositions } from "../texts/text-positions.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import {
  callItem,
  callPrefix,
  type ItemIds,
  messageItem,
  reasoningItem,
  refusalContent,
  type Status,
  textContent,
} from "./output-items.ts";
import type { OwnTool } from "./tool-names.ts";

/** An event without its sequence number. */
export type ItemEvent = JsonObject & { readonly type: string };

type Subject =
  | { readonly type: "text" | "refusal" | "reasoning" }
  | { readonly type: "tool_call"; readonly id: string; readonly tool: OwnTool };

const PREFIX = { text: "msg", refusal: "msg", reasoning: "rs" } as const;

/**
 * Writes one item of a streamed output. A message starts with its first text, reasoning with its first text or encrypted
 * content, so empty ones create no item. Calls of other tools than functions are sent once complete, because the model's
 * JSON must be converted for the client.
 */
export class ItemWriter {
  private readonly subject: Subject;
  private readonly ids: ItemIds;
  private readonly nextPlace: () => number;
  private place = -1;
  private id = "";
  private text = "";
  private readonly annotations: JsonObject[] = [];
  private seal: string | null = null;

  /** `nextPlace` returns the item's index in the output, and is called when the item starts. */
  constructor(subject: Subject, ids: ItemIds, nextPlace: () => number) {
    this.subject = subject;
    this.ids = ids;
    this.nextPlace = nextPlace;
  }

  start(): ItemEvent[] {
    const { subject } = this;
    return subject.type === "tool_call" && hasPieces(subject.tool) ? this.opened() : [];
  }

  delta(text: string): ItemEvent[] {
    if (text === "") return [];
    if (this.subject.type === "tool_call" && this.subject.tool.kind !== "function") {
      this.text += text;
      return [];
    }
    const events = this.opened();
    if (this.subject.type === "reasoning" && this.text === "")
      events.push(this.at("response.reasoning_summary_part.added", { summary_index: 0, part: { type: "summary_text", text: "" } }));
    this.text += text;
    switch (this.subject.type) {
      case "text":
        events.push(this.at("response.output_text.delta", { content_index: 0, delta: text, logprobs: [] }));
        break;
      case "refusal":
        events.push(this.at("response.refusal.delta", { content_index: 0, delta: text }));
        break;
      case "reasoning":
        events.push(this.at("response.reasoning_summary_text.delta", { summary_index: 0, delta: text }));
        break;
      case "tool_call":
        events.push(this.at("response.function_call_arguments.delta", { delta: text }));
        break;
    }
    return events;
  }

  cite(citation: Citation): ItemEvent[] {
    if (this.subject.type !== "text" || this.place < 0) return [];
    const annotation = responseAnnotation(citation, new TextPositions(ANNOTATION_UNIT, this.text));
    if (annotation === null) return [];
    const annotation_index = this.annotations.push(annotation) - 1;
    return [this.at("response.output_text.annotation.added", { content_index: 0, annotation_index, annotation })];
  }

  sealed(seal: string): ItemEvent[] {
    if (this.subject.type !== "reasoning") return [];
    this.seal = seal;
    return this.opened();
  }

  end(status: "completed" | "incomplete"): { readonly events: ItemEvent[]; readonly place: number; readonly done: JsonObject | null } {
    const isCall = this.subject.type === "tool_call";
    const events = isCall && this.text.trim() === "" ? this.delta("{}") : [];
    if (isCall) events.push(...this.opened());
    if (this.place < 0) return { events, place: -1, done: null };
    events.push(...this.closing());
    const done = this.item(status);
    events.push({ type: "response.output_item.done", output_index: this.place, item: done });
    return { events, place: this.place, done };
  }

  private opened(): ItemEvent[] {
    if (this.place >= 0) return [];
    this.place = this.nextPlace();
    const { subject } = this;
    this.id = this.ids.item(subject.type === "tool_call" ? callPrefix(subject.tool) : PREFIX[subject.type], this.place);
    const events: ItemEvent[] = [{ type: "response.output_item.added", output_index: this.place, item: this.item("in_progress") }];
    if (this.subject.type === "text" || this.subject.type === "refusal")
      events.push(this.at("response.content_part.added", { content_index: 0, part: this.content() }));
    return events;
  }

  private closing(): ItemEvent[] {
    const { text, subject } = this;
    switch (subject.type) {
      case "text":
        return [
          this.at("response.output_text.done", { content_index: 0, text, logprobs: [] }),
          this.at("response.content_part.done", { content_index: 0, part: this.content() }),
        ];
      case "refusal":
        return [
          this.at("response.refusal.done", { content_index: 0, refusal: text }),
          this.at("response.content_part.done", { content_index: 0, part: this.content() }),
        ];
      case "reasoning": {
        if (text === "") return [];
        const summary = { summary_index: 0 };
        return [
          this.at("response.reasoning_summary_text.done", { ...summary, text }),
          this.at("response.reasoning_summary_part.done", { ...summary, part: { type: "summary_text", text } }),
        ];
      }
      case "tool_call": {
        const { kind, name } = subject.tool;
        if (kind === "function") return [this.at("response.function_call_arguments.done", { name, arguments: text })];
        if (kind !== "custom") return [];
        const { input = "" } = this.item("completed");
        return [
          this.at("response.custom_tool_call_input.delta", { delta: input }),
          this.at("response.custom_tool_call_input.done", { input }),
        ];
      }
    }
  }

  private item(status: Status): JsonObject {
    const { id, text, subject } = this;
    switch (subject.type) {
      case "tool_call":
        return callItem(
          id,
          subject.tool,
          { id: subject.id, arguments: status === "in_progress" && hasPieces(subject.tool) ? "" : text },
          status,
        );
      case "reasoning":
        return reasoningItem(id, status === "in_progress" ? "" : text, status === "in_progress" ? null : this.seal);
      default:
        return messageItem(id, status === "in_progress" ? [] : [this.content()], status);
    }
  }

  private content(): JsonObject {
    return this.subject.type === "refusal" ? refusalContent(this.text) : textContent(this.text, this.annotations);
  }

  private at(type: string, members: JsonObject): ItemEvent {
    return { type, item_id: this.id, output_index: this.place, ...members };
  }
}

/** Whether calls of this kind are streamed in pieces. */
function hasPieces({ kind }: OwnTool): boolean {
  return kind === "function" || kind === "custom";
}
