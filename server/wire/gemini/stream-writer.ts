import type { ReplyContext, StreamWriter } from "../conversation/codec.ts";
import type { ConversationEvent, StopReason } from "../conversation/reply.ts";
import type { AssistantPart, Signature } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { lineJson } from "../streams/sse-data.ts";
import type { Usage } from "../usage.ts";
import { thoughtSignature, writeAssistantPart } from "./assistant-writer.ts";
import { writeGeminiFault } from "./fault.ts";
import { writeGeminiStop } from "./finish-reasons.ts";
import { StreamedGrounding } from "./grounding-writer.ts";
import { isMalformedCall, MALFORMED } from "./malformed-call.ts";
import { envelope, pictureMember, showsThoughts } from "./reply-writer.ts";

type PartStart = ConversationEvent & { kind: "part_start" };

interface OpenPart {
  readonly begin: PartStart;
  arguments: string;
  signature?: Signature;
}

interface Stop {
  readonly reason: StopReason;
  readonly detail: string | null;
}

/** How bodies are framed in a stream: as events, or as elements of one array. */
export interface GeminiFraming {
  frame(body: JsonObject): string;
  /** Text after the last body of a complete answer. */
  close(): string;
}

export function geminiSseWriter(context: ReplyContext): StreamWriter {
  return new GeminiStreamWriter(context, { frame: (body) => `data: ${lineJson(body)}\r\n\r\n`, close: () => "" });
}

/**
 * Streams an answer. Texts are sent as they arrive, tool calls once complete; finish reasons and usage are in the last
 * body, which alone ends the answer.
 */
export class GeminiStreamWriter implements StreamWriter {
  private readonly context: ReplyContext;
  private readonly framing: GeminiFraming;
  private readonly visible: boolean;
  private readonly open = new Map<string, OpenPart>();
  private readonly stops = new Map<number, Stop>();
  private readonly sources = new Map<number, StreamedGrounding>();
  private readonly malformed = new Set<number>();
  private id: string | null = null;
  private usage: Usage | null = null;

  constructor(context: ReplyContext, framing: GeminiFraming) {
    this.context = context;
    this.framing = framing;
    this.visible = showsThoughts(context.request);
  }

  write(event: ConversationEvent): string {
    switch (event.kind) {
      case "start":
        this.id = event.id;
        return "";
      case "usage":
        this.usage = event.usage;
        return "";
      case "part_start":
        this.open.set(`${event.candidate}.${event.part}`, { begin: event, arguments: "" });
        return "";
      case "stop":
        this.stops.set(event.candidate, { reason: event.reason, detail: event.stopDetail });
        return "";
      case "citation":
        this.sourcesOf(event.candidate).cite(event.part, event.citation);
        return "";
      case "picture":
        return this.piece(event.candidate, pictureMember(event));
      case "fault":
        return this.framing.frame(writeGeminiFault(event.fault));
      default:
        return this.inPart(event);
    }
  }

  close(): string {
    const candidates = [...this.stops].map(([index, stop]) => this.last(index, stop));
    return this.framing.frame(envelope(candidates, this.usage, this.id, this.context)) + this.framing.close();
  }

  private inPart(event: ConversationEvent & { kind: "delta" | "signature" | "part_end" }): string {
    const key = `${event.candidate}.${event.part}`;
    const open = this.open.get(key);
    if (open === undefined) return "";
    if (event.kind === "part_end") {
      this.open.delete(key);
      return open.begin.type === "tool_call" ? this.call(event.candidate, open, open.begin) : "";
    }
    if (open.begin.type === "tool_call") {
      if (event.kind === "delta") open.arguments += event.text;
      else open.signature = event.signature;
      return "";
    }
    const reasoning = open.begin.type === "reasoning";
    if (reasoning && !this.visible) return "";
    // The text of a signed part has already been sent, so the signature follows with an empty one, as Google also does.
    const signed = event.kind === "signature" ? thoughtSignature(event.signature) : {};
    const text = event.kind === "delta" ? event.text : "";
    if (text === "" && signed.thoughtSignature === undefined) return "";
    if (!reasoning) this.sourcesOf(event.candidate).add(event.part, text);
    return this.piece(event.candidate, { text, ...(reasoning && { thought: true }), ...signed });
  }

  private call(candidate: number, open: OpenPart, begin: PartStart & { type: "tool_call" }): string {
    const { signature } = open;
    const part: AssistantPart = {
      kind: "tool_call",
      id: begin.id,
      name: begin.name,
      arguments: open.arguments,
      ...(signature && { signature }),
    };
    if (isMalformedCall(part)) {
      this.malformed.add(candidate);
      return "";
    }
    const written = writeAssistantPart(part);
    return written === null ? "" : this.piece(candidate, written);
  }

  private piece(index: number, part: JsonObject): string {
    return this.framing.frame(envelope([{ content: { parts: [part], role: "model" }, index }], null, this.id, this.context));
  }

  private last(index: number, stop: Stop): JsonObject {
    const broken = stop.reason === "tool_call" && this.malformed.has(index);
    const finish = broken ? writeGeminiStop(MALFORMED.stop, MALFORMED.stopDetail) : writeGeminiStop(stop.reason, stop.detail);
    // Without a part, the official client drops the whole answer from its chat history.
    return { content: { parts: [{ text: "" }], role: "model" }, ...finish, ...this.sourcesOf(index).member(), index };
  }

  private sourcesOf(index: number): StreamedGrounding {
    let sources = this.sources.get(index);
    if (sources === undefined) this.sources.set(index, (sources = new StreamedGrounding()));
    return sources;
  }
}
