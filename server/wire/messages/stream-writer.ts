import type { ReplyContext, StreamWriter } from "../conversation/codec.ts";
import { type ConversationEvent, pictureNote } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { lineJson } from "../streams/sse-data.ts";
import type { Usage } from "../usage.ts";
import type { Citation } from "../conversation/citations.ts";
import { writeMessagesCitation } from "./citations.ts";
import { message, NOT_STOPPED, textBlock, toolUseBlock } from "./message-members.ts";
import { writeMessagesFault } from "./fault.ts";
import { type MessagesStop, writeMessagesStop } from "./messages-stop.ts";
import { finalMessagesUsageMember, messagesUsageMember } from "./usage-member.ts";

type PartStart = Extract<ConversationEvent, { kind: "part_start" }>;
type PartGrowth = Extract<ConversationEvent, { kind: "delta" | "signature" | "citation" }>;

interface Part {
  readonly start: PartStart;
  /** Received while another part was being written. */
  readonly held: PartGrowth[];
  ended: boolean;
  /** Whether the block's start was sent. It is delayed until there is content, because callers cannot send blank blocks back. */
  shown: boolean;
  /** Whether the current block has citations: they concern all of it, so further text goes into a block of its own. */
  cited: boolean;
}

/**
 * Writes the stream of one message as the official clients require: one start, consecutive blocks with start and stop, and
 * the closing frames. Parts that other formats fill in parallel are held back until their turn. The format has a single
 * candidate: the first.
 */
export class MessagesStreamWriter implements StreamWriter {
  private readonly context: ReplyContext;
  /** The part being written, then the waiting ones. */
  private parts: Part[] = [];
  private readonly partAt = new Map<number, Part>();
  private started = false;
  private blocks = 0;
  private stop: MessagesStop = { reason: "end", stopSequence: null, stopDetail: null };
  private usage: Usage | null = null;
  private called = false;
  private refused = false;

  constructor(context: ReplyContext) {
    this.context = context;
  }

  write(event: ConversationEvent): string {
    if ("candidate" in event && event.candidate !== 0) return "";
    switch (event.kind) {
      case "start":
        return this.start(event.id);
      case "usage":
        this.usage = event.usage;
        return "";
      case "stop":
        this.stop = event;
        return "";
      case "fault":
        return frame("error", writeMessagesFault(event.fault, this.context.callId));
      case "part_start":
        return this.start(null) + this.begin(event);
      case "picture": {
        const at = { candidate: 0, part: event.part } as const;
        return (
          this.start(null) +
          this.begin({ kind: "part_start", ...at, type: "text" }) +
          this.grow({ kind: "delta", ...at, text: pictureNote(event.mediaType) }) +
          this.end(event.part)
        );
      }
      case "delta":
      case "signature":
      case "citation":
        return this.grow(event);
      case "part_end":
        return this.end(event.part);
    }
  }

  close(): string {
    let out = this.start(null);
    for (const part of this.parts) part.ended = true;
    out += this.advance();
    const delta = { ...writeMessagesStop(this.stop, { called: this.called, refused: this.refused }), container: null };
    return (
      out +
      frame("message_delta", { type: "message_delta", delta, usage: finalMessagesUsageMember(this.usage) }) +
      frame("message_stop", { type: "message_stop" })
    );
  }

  private start(id: string | null): string {
    if (this.started) return "";
    this.started = true;
    return frame("message_start", {
      type: "message_start",
      message: message(id, this.context, [], NOT_STOPPED, messagesUsageMember(this.usage)),
    });
  }

  private begin(start: PartStart): string {
    this.called ||= start.type === "tool_call";
    this.refused ||= start.type === "refusal";
    const part: Part = { start, held: [], ended: false, shown: false, cited: false };
    this.parts.push(part);
    this.partAt.set(start.part, part);
    return this.parts[0] === part ? this.show(part) : "";
  }

  private grow(event: PartGrowth): string {
    const part = this.partAt.get(event.part);
    if (part === undefined) return "";
    if (this.parts[0] === part) return this.growth(part, event);
    part.held.push(event);
    return "";
  }

  private end(number: number): string {
    const part = this.partAt.get(number);
    if (part === undefined) return "";
    part.ended = true;
    return this.advance();
  }

  /** Closes finished parts at the head of the queue and writes what was held back after them. */
  private advance(): string {
    let out = "";
    while (this.parts[0]?.ended === true) {
      const done = this.parts.shift();
      if (done !== undefined) this.partAt.delete(done.start.part);
      if (done?.shown === true) out += this.endBlock();
      const [next] = this.parts;
      if (next === undefined) break;
      out += this.show(next);
      for (const event of next.held.splice(0)) out += this.growth(next, event);
    }
    return out;
  }

  /** A call starts at once, other parts with their first content. */
  private show(part: Part): string {
    return part.start.type === "tool_call" ? this.open(part, toolUseBlock(part.start.id, part.start.name, {})) : "";
  }

  private growth(part: Part, event: PartGrowth): string {
    if (event.kind === "signature") return this.signature(part, event);
    if (event.kind === "citation") return this.citation(part, event.citation);
    if (event.text === "") return "";
    if (part.start.type === "tool_call") return this.delta({ type: "input_json_delta", partial_json: event.text });
    if (part.start.type === "reasoning") return this.openThought(part) + this.delta({ type: "thinking_delta", thinking: event.text });
    let out = "";
    if (part.cited && event.text.trim() !== "") {
      out = this.endBlock();
      part.shown = part.cited = false;
    }
    if (!part.shown) out += this.open(part, textBlock(""));
    return out + this.delta({ type: "text_delta", text: event.text });
  }

  /** Belongs to the block that is open: what the vendor cites is known only after its text was sent. */
  private citation(part: Part, citation: Citation): string {
    const written = part.shown && part.start.type === "text" ? writeMessagesCitation(citation) : null;
    if (written === null) return "";
    part.cited = true;
    return this.delta({ type: "citations_delta", citation: written });
  }

  private endBlock(): string {
    return frame("content_block_stop", { type: "content_block_stop", index: this.blocks++ });
  }

  private signature(part: Part, event: Extract<ConversationEvent, { kind: "signature" }>): string {
    if (part.start.type !== "reasoning" || event.signature.family !== "anthropic" || event.signature.value === "") return "";
    if (!event.redacted) return this.openThought(part) + this.delta({ type: "signature_delta", signature: event.signature.value });
    return part.shown ? "" : this.open(part, { type: "redacted_thinking", data: event.signature.value });
  }

  private openThought(part: Part): string {
    return part.shown ? "" : this.open(part, { type: "thinking", thinking: "", signature: "" });
  }

  private open(part: Part, block: JsonObject): string {
    part.shown = true;
    return frame("content_block_start", { type: "content_block_start", index: this.blocks, content_block: block });
  }

  private delta(delta: JsonObject): string {
    return frame("content_block_delta", { type: "content_block_delta", index: this.blocks, delta });
  }
}

/** The official client ignores frames without an event name. */
function frame(event: string, data: JsonObject): string {
  return `event: ${event}\ndata: ${lineJson(data)}\n\n`;
}
