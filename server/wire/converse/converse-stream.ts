import type { StreamReader } from "../conversation/codec.ts";
import type { ConversationEvent } from "../conversation/reply.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { servedByBedrock } from "../serving.ts";
import { FrameTooLarge, refuseTooManyParts } from "../streams/stream-bounds.ts";
import { readConverseCitations } from "./citations.ts";
import { EventStreamCutter, type EventStreamMessage, NotAnEventStream } from "./event-stream.ts";
import { streamFault } from "./fault.ts";
import { converseStop } from "./stop.ts";
import { newToolUseId } from "./tool-use-ids.ts";
import { readConverseUsage } from "./usage.ts";

interface OpenPart {
  readonly part: number;
  readonly type: "text" | "reasoning" | "tool_call";
  /** Whether any of a tool call's arguments were received. */
  filled: boolean;
  signature: string;
  redacted: boolean;
  length: number;
  readonly citations: JsonObject[];
}

/** Reads the frames of ConverseStream. Usage follows `messageStop`, so an answer can be complete without it. */
export class ConverseStreamReader implements StreamReader {
  private readonly cutter = new EventStreamCutter();
  /** By contentBlockIndex, in the order they were opened. */
  private readonly open = new Map<number, OpenPart>();
  /** Blocks of Bedrock's own tools, which are not shown. */
  private readonly hidden = new Set<number>();
  private parts = 0;
  private calledTools = false;
  private started = false;
  private stopped = false;
  private failed = false;

  push(piece: Uint8Array): ConversationEvent[] {
    if (this.failed) return [];
    const events: ConversationEvent[] = [];
    try {
      for (const message of this.cutter.push(piece)) {
        this.take(message, events);
        if (this.failed) break;
      }
    } catch (error) {
      if (!(error instanceof NotAnEventStream || error instanceof FrameTooLarge)) throw error;
      this.failed = true;
      events.push({
        kind: "fault",
        fault: { status: 502, message: `Amazon Bedrock sent a stream that cannot be read: ${error.message}`, code: null, param: null },
      });
    }
    return events;
  }

  end(): { readonly events: readonly ConversationEvent[]; readonly complete: boolean } {
    return { events: [], complete: this.stopped && !this.failed };
  }

  private take({ type, name, payload }: EventStreamMessage, events: ConversationEvent[]): void {
    if (type !== "event") {
      this.failed = true;
      events.push({ kind: "fault", fault: streamFault(name, payload) });
      return;
    }
    if (name === "metadata") {
      const usage = servedByBedrock(readConverseUsage(payload.usage), payload.serviceTier);
      if (usage !== null) events.push({ kind: "usage", usage });
      return;
    }
    // Content after the stop does not belong to the answer.
    if (this.stopped) return;
    const index = typeof payload.contentBlockIndex === "number" ? payload.contentBlockIndex : 0;
    switch (name) {
      case "messageStart":
        this.start(events);
        break;
      case "contentBlockStart":
        this.blockStart(index, payload.start, events);
        break;
      case "contentBlockDelta":
        if (isObject(payload.delta)) this.blockDelta(index, payload.delta, events);
        break;
      case "contentBlockStop":
        this.close(index, events);
        this.hidden.delete(index);
        break;
      case "messageStop":
        this.stop(payload, events);
        break;
    }
  }

  private start(events: ConversationEvent[]): void {
    if (this.started) return;
    this.started = true;
    events.push({ kind: "start", id: null });
  }

  private blockStart(index: number, start: unknown, events: ConversationEvent[]): void {
    refuseTooManyParts(this.hidden.size);
    const toolUse = isObject(start) ? start.toolUse : undefined;
    if (isObject(start) && (isObject(start.toolResult) || isObject(start.image))) this.hidden.add(index);
    if (!isObject(toolUse)) return;
    if (typeof toolUse.name !== "string" || toolUse.type === "server_tool_use") {
      this.hidden.add(index);
      return;
    }
    this.close(index, events);
    this.start(events);
    const part = this.parts++;
    this.calledTools = true;
    this.open.set(index, { part, type: "tool_call", filled: false, signature: "", redacted: false, length: 0, citations: [] });
    const id = typeof toolUse.toolUseId === "string" && toolUse.toolUseId !== "" ? toolUse.toolUseId : newToolUseId(part);
    events.push({ kind: "part_start", candidate: 0, part, type: "tool_call", id, name: toolUse.name });
  }

  private blockDelta(index: number, delta: JsonObject, events: ConversationEvent[]): void {
    if (this.hidden.has(index)) return;
    if (typeof delta.text === "string") {
      if (delta.text !== "") this.fill(this.opened(index, "text", events), delta.text, events);
    } else if (isObject(delta.toolUse)) {
      const part = this.open.get(index);
      const { input } = delta.toolUse;
      if (part?.type === "tool_call" && typeof input === "string" && input !== "") this.fill(part, input, events);
    } else if (isObject(delta.citation)) {
      const { citations } = this.opened(index, "text", events);
      refuseTooManyParts(citations.length);
      citations.push(delta.citation);
    } else if (isObject(delta.reasoningContent)) {
      const { text, signature, redactedContent } = delta.reasoningContent;
      if (typeof text === "string" && text !== "") this.fill(this.opened(index, "reasoning", events), text, events);
      if (typeof signature === "string" && signature !== "") this.opened(index, "reasoning", events).signature += signature;
      if (typeof redactedContent === "string" && redactedContent !== "") {
        const part = this.opened(index, "reasoning", events);
        part.signature += redactedContent;
        part.redacted = true;
      }
    }
  }

  /** Text and reasoning start with their first delta: Bedrock announces only tool calls. */
  private opened(index: number, type: "text" | "reasoning", events: ConversationEvent[]): OpenPart {
    const open = this.open.get(index);
    if (open?.type === type) return open;
    this.close(index, events);
    this.start(events);
    const begun: OpenPart = { part: this.parts++, type, filled: false, signature: "", redacted: false, length: 0, citations: [] };
    this.open.set(index, begun);
    events.push({ kind: "part_start", candidate: 0, part: begun.part, type });
    return begun;
  }

  private fill(part: OpenPart, text: string, events: ConversationEvent[]): void {
    part.filled = true;
    part.length += text.length;
    events.push({ kind: "delta", candidate: 0, part: part.part, text });
  }

  private close(index: number, events: ConversationEvent[]): void {
    const open = this.open.get(index);
    if (open === undefined) return;
    this.open.delete(index);
    const { part, type, filled, signature, redacted, length, citations } = open;
    // A tool call without arguments has no delta, but its arguments must still be the JSON text of an object.
    if (type === "tool_call" && !filled) events.push({ kind: "delta", candidate: 0, part, text: "{}" });
    if (signature !== "")
      events.push({ kind: "signature", candidate: 0, part, signature: { family: "anthropic", value: signature }, redacted });
    for (const citation of length === 0 ? [] : readConverseCitations(citations, length))
      events.push({ kind: "citation", candidate: 0, part, citation });
    events.push({ kind: "part_end", candidate: 0, part });
  }

  private stop(payload: JsonObject, events: ConversationEvent[]): void {
    this.start(events);
    for (const index of [...this.open.keys()]) this.close(index, events);
    this.stopped = true;
    events.push({ kind: "stop", candidate: 0, ...converseStop(payload, this.calledTools) });
  }
}
