import type { ReplyContext, StreamWriter } from "../../conversation/codec.ts";
import type { ConversationEvent } from "../../conversation/reply.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { lineJson } from "../../streams/sse-data.ts";
import type { Usage } from "../../usage.ts";
import { JoinedText } from "../../conversation/citations.ts";
import { chatAnnotations, imageMember } from "./choice.ts";
import { chatFinishReason, refusalNote } from "./stop.ts";
import { writeOpenAiFault } from "../fault.ts";
import { UniqueCallIds } from "../../conversation/unique-call-ids.ts";
import { chatUsageMember } from "../usage-member.ts";

interface Written {
  /** The kind of each part, by number. */
  readonly kinds: Map<number, string>;
  /** For each tool call part: its index in `tool_calls`, and whether its arguments have started. */
  readonly calls: Map<number, { readonly index: number; filled: boolean }>;
  readonly ids: UniqueCallIds;
  readonly content: JoinedText;
  images: number;
}

const MEMBER_OF: Readonly<Record<string, string>> = { text: "content", reasoning: "reasoning_content", refusal: "refusal" };

/** Writes a streamed chat completion in OpenAI's format; signatures are left out, because it cannot express them. */
export class ChatStreamWriter implements StreamWriter {
  private readonly context: ReplyContext;
  private readonly candidates = new Map<number, Written>();
  private id: string;
  private usage: Usage | null = null;

  constructor(context: ReplyContext) {
    this.context = context;
    this.id = `chatcmpl-${context.callId}`;
  }

  write(event: ConversationEvent): string {
    switch (event.kind) {
      case "start":
        this.id = event.id ?? this.id;
        return this.opened(0);
      case "part_start":
        return this.opened(event.candidate) + this.partStart(event);
      case "delta":
        return this.delta(event);
      case "picture": {
        const head = this.opened(event.candidate);
        const written = this.written(event.candidate);
        return head + this.piece(event.candidate, { images: [imageMember(event, written.images++)] });
      }
      case "citation": {
        const { content } = this.written(event.candidate);
        const annotations = chatAnnotations([[event.citation, content.startOf(event.part)]], content.text);
        return annotations.length === 0 ? "" : this.piece(event.candidate, { annotations });
      }
      case "part_end": {
        const call = this.written(event.candidate).calls.get(event.part);
        // A call without arguments gets an empty object, because clients parse what they receive.
        return call === undefined || call.filled
          ? ""
          : this.delta({ kind: "delta", candidate: event.candidate, part: event.part, text: "{}" });
      }
      case "stop": {
        const head = this.opened(event.candidate);
        const kinds = [...this.written(event.candidate).kinds.values()];
        const note = refusalNote({ stop: event.reason, stopDetail: event.stopDetail, parts: kinds.map((kind) => ({ kind })) });
        const end: JsonObject = {
          index: event.candidate,
          delta: {},
          logprobs: null,
          finish_reason: chatFinishReason(event.reason, kinds.includes("refusal")),
        };
        if (event.stopSequence !== null) end.stop_reason = event.stopSequence;
        if (event.stopDetail !== null) end.stop_detail = event.stopDetail;
        return head + (note === null ? "" : this.piece(event.candidate, { refusal: note })) + this.chunk([end]);
      }
      case "usage":
        this.usage = event.usage;
        return "";
      case "fault":
        return `data: ${lineJson(writeOpenAiFault(event.fault))}\n\n`;
      default:
        return "";
    }
  }

  close(): string {
    const usage = this.context.includeUsage && this.usage !== null ? this.chunk([], chatUsageMember(this.usage)) : "";
    return `${usage}data: [DONE]\n\n`;
  }

  /** The first chunk of a candidate has the role. */
  private opened(candidate: number): string {
    if (this.candidates.has(candidate)) return "";
    this.written(candidate);
    return this.piece(candidate, { role: "assistant", content: "" });
  }

  private partStart(event: ConversationEvent & { kind: "part_start" }): string {
    const { kinds, calls, ids } = this.written(event.candidate);
    kinds.set(event.part, event.type);
    if (event.type !== "tool_call") return "";
    const index = calls.size;
    calls.set(event.part, { index, filled: false });
    return this.piece(event.candidate, {
      tool_calls: [{ index, id: ids.of(event.id), type: "function", function: { name: event.name, arguments: "" } }],
    });
  }

  private delta({ candidate, part, text }: ConversationEvent & { kind: "delta" }): string {
    if (text === "") return "";
    const { kinds, calls, content } = this.written(candidate);
    if (kinds.get(part) === "text") content.add(part, text);
    const call = calls.get(part);
    if (call !== undefined) {
      call.filled ||= text.trim() !== "";
      return this.piece(candidate, { tool_calls: [{ index: call.index, function: { arguments: text } }] });
    }
    const member = MEMBER_OF[kinds.get(part) ?? ""];
    return member === undefined ? "" : this.piece(candidate, { [member]: text });
  }

  private written(candidate: number): Written {
    let written = this.candidates.get(candidate);
    if (written === undefined)
      this.candidates.set(
        candidate,
        (written = { kinds: new Map(), calls: new Map(), ids: new UniqueCallIds(), content: new JoinedText(), images: 0 }),
      );
    return written;
  }

  private piece(candidate: number, delta: JsonObject): string {
    return this.chunk([{ index: candidate, delta, logprobs: null, finish_reason: null }]);
  }

  private chunk(choices: JsonObject[], usage: JsonObject | null = null): string {
    const { created, model, includeUsage } = this.context;
    const chunk: JsonObject = { id: this.id, object: "chat.completion.chunk", created, model, choices };
    if (includeUsage) chunk.usage = usage;
    return `data: ${lineJson(chunk)}\n\n`;
  }
}
