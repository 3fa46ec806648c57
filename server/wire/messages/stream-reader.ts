import type { StreamReader } from "../conversation/codec.ts";
import type { ConversationEvent, ProviderFault } from "../conversation/reply.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { withExactTools } from "../json/exact-tools.ts";
import { frameData } from "../streams/sse-data.ts";
import { FrameTooLarge, refuseTooManyParts } from "../streams/stream-bounds.ts";
import { FrameCutter } from "../streams/sse-frames.ts";
import { readMessagesCitations } from "./citations.ts";
import { readMessagesFault } from "./fault.ts";
import { readMessagesStop } from "./messages-stop.ts";
import { callIdAt } from "./read-assistant-blocks.ts";
import { mergeMessagesUsage, readMessagesUsage } from "./usage.ts";

const decoder = new TextDecoder();

interface OpenPart {
  readonly part: number;
  readonly type: "text" | "reasoning" | "tool_call";
  /** Arguments given at the start of the block; used only if no fragments follow. */
  readonly input: string;
  filled: boolean;
  /** Of a text: its length, and what the vendor cites in all of it. */
  length: number;
  readonly citations: JsonValue[];
}

/** Reads a provider's stream of one message, cut at any positions. Blocks of the vendor's own tools are left out. */
export class MessagesStreamReader implements StreamReader {
  private readonly cutter = new FrameCutter();
  /** By the provider's block index; null for a block that is left out. */
  private readonly blocks = new Map<number, OpenPart | null>();
  private events: ConversationEvent[] = [];
  private parts = 0;
  private calledTools = false;
  private started = false;
  private stopped = false;
  private failed = false;
  private counts: JsonObject | null = null;
  private id: string | null = null;
  closed = false;

  push(piece: Uint8Array): ConversationEvent[] {
    this.events = [];
    if (this.failed) return [];
    try {
      for (const frame of this.cutter.push(piece)) this.frame(frame);
    } catch (error) {
      if (!(error instanceof FrameTooLarge)) throw error;
      this.fail({ status: 502, message: error.message, code: null, param: null });
    }
    return this.events;
  }

  end(): { events: readonly ConversationEvent[]; complete: boolean } {
    this.events = [];
    const rest = this.cutter.rest();
    if (!this.failed && rest.byteLength > 0) this.frame(rest, true);
    return { events: this.events, complete: this.stopped && !this.failed };
  }

  /** With `torn`, an unreadable frame is ignored instead of reported: the connection ended within it. */
  private frame(frame: Uint8Array, torn = false): void {
    const data = frameData(decoder.decode(frame));
    if (this.failed || data === null || data === "[DONE]") return;
    let event: JsonValue;
    try {
      event = withExactTools(JSON.parse(data) as JsonValue, data);
    } catch {
      if (!torn) this.fail({ status: 502, message: "the provider sent an event that is not JSON", code: null, param: null });
      return;
    }
    if (isObject(event)) this.event(event);
  }

  private event(event: JsonObject): void {
    if (event.type === "error") {
      this.fail(readMessagesFault(null, event));
      return;
    }
    if (event.type === "message_stop") this.closed = true;
    // After the end of an answer, only its usage is still read.
    if (this.stopped && event.type !== "message_delta") return;
    const index = typeof event.index === "number" ? event.index : 0;
    switch (event.type) {
      case "message_start":
        this.start(isObject(event.message) ? event.message : {});
        break;
      case "content_block_start":
        this.begin(index, isObject(event.content_block) ? event.content_block : {});
        break;
      case "content_block_delta":
        if (isObject(event.delta)) this.grow(index, event.delta);
        break;
      case "content_block_stop":
        this.close(index);
        break;
      case "message_delta":
        this.count(event.usage);
        if (isObject(event.delta) && typeof event.delta.stop_reason === "string") this.stop(event.delta);
        break;
      case "message_stop":
        this.stop({});
        break;
      default:
        break;
    }
  }

  private start(message: JsonObject): void {
    if (!this.started) {
      this.started = true;
      this.id = typeof message.id === "string" ? message.id : null;
      this.events.push({ kind: "start", id: this.id });
    }
    this.count(message.usage);
  }

  private count(more: JsonValue | undefined): void {
    const merged = mergeMessagesUsage(this.counts, more);
    const usage = merged === this.counts ? null : readMessagesUsage(merged);
    this.counts = merged;
    if (usage !== null) this.events.push({ kind: "usage", usage });
  }

  private begin(index: number, block: JsonObject): void {
    refuseTooManyParts(this.blocks.size);
    this.close(index);
    if (block.type === "text") {
      const { citations } = this.open(index, "text");
      if (Array.isArray(block.citations)) citations.push(...block.citations);
      this.add(index, block.text);
    } else if (block.type === "thinking") {
      this.open(index, "reasoning");
      this.add(index, block.thinking);
      this.sign(index, block.signature, false);
    } else if (block.type === "redacted_thinking") {
      this.open(index, "reasoning");
      this.sign(index, block.data ?? "", true);
    } else if (block.type === "tool_use") {
      this.openCall(index, block);
    } else {
      this.blocks.set(index, null);
    }
  }

  private open(index: number, type: "text" | "reasoning"): OpenPart {
    if (!this.started) this.start({});
    const part = this.parts++;
    const open: OpenPart = { part, type, input: "", filled: false, length: 0, citations: [] };
    this.blocks.set(index, open);
    this.events.push({ kind: "part_start", candidate: 0, part, type });
    return open;
  }

  private openCall(index: number, block: JsonObject): void {
    if (!this.started) this.start({});
    const part = this.parts++;
    this.calledTools = true;
    const id = typeof block.id === "string" && block.id !== "" ? block.id : callIdAt(`${this.id ?? ""}_${part}`);
    const input = JSON.stringify(isObject(block.input) ? block.input : {});
    this.blocks.set(index, { part, type: "tool_call", input, filled: false, length: 0, citations: [] });
    this.events.push({
      kind: "part_start",
      candidate: 0,
      part,
      type: "tool_call",
      id,
      name: typeof block.name === "string" ? block.name : "",
    });
  }

  private grow(index: number, delta: JsonObject): void {
    const open = this.blocks.get(index);
    if (open === null) return;
    if (delta.type === "text_delta") this.fitting(index, "text", delta.text);
    else if (delta.type === "thinking_delta") this.fitting(index, "reasoning", delta.thinking);
    else if (delta.type === "signature_delta" && open?.type === "reasoning") this.sign(index, delta.signature, false);
    else if (delta.type === "citations_delta" && isObject(delta.citation)) this.cite(index, delta.citation);
    // Fragments without a call cannot be run, so they are dropped.
    else if (delta.type === "input_json_delta" && open?.type === "tool_call") this.add(index, delta.partial_json);
  }

  /** Some vendors mix thinking and text in one block, or never start one: each kind gets its own part. */
  private fitting(index: number, type: "text" | "reasoning", text: JsonValue | undefined): void {
    if (this.blocks.get(index)?.type !== type) {
      this.close(index);
      this.open(index, type);
    }
    this.add(index, text);
  }

  private add(index: number, text: JsonValue | undefined): void {
    const open = this.blocks.get(index);
    if (!open || typeof text !== "string" || text === "") return;
    open.filled = true;
    open.length += text.length;
    this.events.push({ kind: "delta", candidate: 0, part: open.part, text });
  }

  private cite(index: number, citation: JsonObject): void {
    const open = this.blocks.get(index);
    if (open?.type !== "text") return;
    refuseTooManyParts(open.citations.length);
    open.citations.push(citation);
  }

  private sign(index: number, value: JsonValue | undefined, redacted: boolean): void {
    const open = this.blocks.get(index);
    if (!open || typeof value !== "string" || (value === "" && !redacted)) return;
    this.events.push({ kind: "signature", candidate: 0, part: open.part, signature: { family: "anthropic", value }, redacted });
  }

  private close(index: number): void {
    const open = this.blocks.get(index);
    this.blocks.delete(index);
    if (!open) return;
    if (open.type === "tool_call" && !open.filled) this.events.push({ kind: "delta", candidate: 0, part: open.part, text: open.input });
    for (const citation of open.length === 0 ? [] : readMessagesCitations(open.citations, open.length))
      this.events.push({ kind: "citation", candidate: 0, part: open.part, citation });
    this.events.push({ kind: "part_end", candidate: 0, part: open.part });
  }

  private stop(holder: JsonObject): void {
    if (this.stopped) return;
    if (!this.started) this.start({});
    for (const index of [...this.blocks.keys()]) this.close(index);
    const { reason, stopSequence, stopDetail } = readMessagesStop(holder, this.calledTools);
    this.stopped = true;
    this.events.push({ kind: "stop", candidate: 0, reason, stopSequence, stopDetail });
  }

  private fail(fault: ProviderFault): void {
    this.failed = true;
    this.events.push({ kind: "fault", fault });
  }
}
