import type { ConversationEvent } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectsOf } from "../openai/loose-fields.ts";
import { callPart, citationsOf, messageParts, PARAGRAPH, reasoningPart } from "./output-item-reader.ts";

/** Receives the parts of an answer as they start. */
export interface PartSink {
  beginPart(type: "text" | "reasoning" | "refusal"): number;
  beginCall(id: string, name: string): number;
  say(event: ConversationEvent): void;
}

interface Part {
  readonly number: number;
  filled: boolean;
  open: boolean;
  /** Of a message. */
  text: string;
  cited: boolean;
}

/** Reads one item of a streamed output. What its deltas did not contain is taken from its final event. */
export class ItemReader {
  private readonly sink: PartSink;
  private readonly mint: () => string;
  /** By content index for a message; under 0 for any other item. */
  private readonly parts = new Map<number, Part>();
  private reasoningFrom: { readonly source: "summary" | "content"; index: number } | null = null;
  private kind: "message" | "reasoning" | "function_call" | null = null;
  private finished = false;

  constructor(sink: PartSink, mint: () => string) {
    this.sink = sink;
    this.mint = mint;
  }

  added(item: JsonObject): void {
    if (item.type === "function_call" && this.parts.size === 0 && this.takes("function_call")) this.begin(item);
  }

  text(kind: "text" | "refusal", index: number, text: string | null): void {
    if (text === null || text === "" || !this.takes("message")) return;
    let part = this.parts.get(index);
    if (part === undefined)
      this.parts.set(index, (part = { number: this.sink.beginPart(kind), filled: false, open: true, text: "", cited: false }));
    this.fill(part, text);
  }

  textDone(kind: "text" | "refusal", index: number, text: string | null): void {
    if (!this.takes("message")) return;
    if (this.parts.get(index) === undefined) this.text(kind, index, text);
    this.close(this.parts.get(index));
  }

  /** An annotation of a text, by the text's content index. */
  annotation(index: number, annotation: JsonObject): void {
    const part = this.parts.get(index);
    if (part !== undefined && this.takes("message")) this.cite(part, { annotations: [annotation] });
  }

  /** Uses either the summary of a reasoning or, if the model shows it, its text: whichever comes first. */
  reasoning(source: "summary" | "content", index: number, text: string | null): void {
    if (text === null || text === "" || !this.takes("reasoning")) return;
    this.reasoningFrom ??= { source, index };
    if (this.reasoningFrom.source !== source) return;
    let part = this.parts.get(0);
    if (part === undefined)
      this.parts.set(0, (part = { number: this.sink.beginPart("reasoning"), filled: false, open: true, text: "", cited: false }));
    if (this.reasoningFrom.index !== index) this.fill(part, PARAGRAPH);
    this.reasoningFrom.index = index;
    this.fill(part, text);
  }

  /** A call whose first event was lost starts at its final event, which has the name. */
  fragment(text: string | null): void {
    const part = this.parts.get(0);
    if (part !== undefined && text !== null && text !== "" && this.takes("function_call")) this.fill(part, text);
  }

  done(item: JsonObject): void {
    if (this.finished) return;
    if (item.type === "message" && this.takes("message")) {
      if (this.parts.size === 0)
        messageParts(item.content).forEach(
          (part, i) => (part.kind === "text" || part.kind === "refusal") && this.text(part.kind, i, part.text),
        );
      for (const [content, i] of objectsOf(item.content)) {
        const part = this.parts.get(i);
        if (part?.cited === false) this.cite(part, content);
      }
    } else if (item.type === "reasoning" && this.takes("reasoning")) this.reasoningDone(item);
    else if (item.type === "function_call" && this.takes("function_call")) {
      if (this.parts.size === 0) this.begin(item);
      if (this.parts.get(0)?.filled === false) this.fragment(filledOf(item.arguments));
    }
    this.end();
  }

  end(): void {
    if (this.finished) return;
    for (const part of this.parts.values()) this.close(part);
    this.finished = true;
  }

  /** The first event determines an item's kind; contradicting events are ignored as provider mistakes. */
  private takes(kind: "message" | "reasoning" | "function_call"): boolean {
    if (this.finished) return false;
    this.kind ??= kind;
    return this.kind === kind;
  }

  private begin(item: JsonObject): void {
    const call = callPart(item, this.mint);
    if (call?.kind === "tool_call")
      this.parts.set(0, { number: this.sink.beginCall(call.id, call.name), filled: false, open: true, text: "", cited: false });
  }

  private reasoningDone(item: JsonObject): void {
    const whole = reasoningPart(item);
    if (whole === null) return;
    let part = this.parts.get(0);
    if (part === undefined) {
      this.parts.set(0, (part = { number: this.sink.beginPart("reasoning"), filled: false, open: true, text: "", cited: false }));
      if (whole.text !== "") this.fill(part, whole.text);
    }
    if (whole.signature !== undefined)
      this.sink.say({ kind: "signature", candidate: 0, part: part.number, signature: whole.signature, redacted: !part.filled });
  }

  private fill(part: Part, text: string): void {
    if (!part.open) return;
    part.filled ||= text.trim() !== "";
    if (this.kind === "message") part.text += text;
    this.sink.say({ kind: "delta", candidate: 0, part: part.number, text });
  }

  private cite(part: Part, content: JsonObject): void {
    for (const citation of citationsOf(content, part.text).citations ?? []) {
      part.cited = true;
      this.sink.say({ kind: "citation", candidate: 0, part: part.number, citation });
    }
  }

  private close(part: Part | undefined): void {
    if (part === undefined || !part.open) return;
    if (this.kind === "function_call" && !part.filled) this.fill(part, "{}");
    part.open = false;
    this.sink.say({ kind: "part_end", candidate: 0, part: part.number });
  }
}
