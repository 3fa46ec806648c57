import { servedByOpenAi, servingByOpenAi } from "../serving.ts";
import { refuseTooManyParts } from "../streams/stream-bounds.ts";
import type { ConversationEvent, PicturePart, ReplyPart } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { newCallId } from "../openai/call-id.ts";
import { EventReader } from "../openai/event-reader.ts";
import { readOpenAiFault, statusOfFault } from "../openai/fault.ts";
import { filledOf, objectOf, stringOf, wholeOf } from "../openai/loose-fields.ts";
import { picturePart } from "./output-item-reader.ts";
import { outputParts, responsesStopReason } from "./reply-reader.ts";
import { ItemReader, type PartSink } from "./stream-item-reader.ts";
import type { ServiceTier } from "../usage.ts";
import { readResponsesUsage } from "./usage.ts";

/** Reads the events of a streamed response. */
export class ResponsesStreamReader extends EventReader implements PartSink {
  private readonly items = new Map<string, ItemReader>();
  private readonly kinds: { readonly kind: string }[] = [];
  private id: string | null = null;
  private tier: unknown = null;
  private started = false;
  private ended = false;

  get served(): ServiceTier {
    return servingByOpenAi(this.tier);
  }

  protected read(event: JsonObject): void {
    if (this.ended) return;
    const type = filledOf(event.type) ?? "";
    if (type === "error" || (type === "" && event.error !== undefined && event.error !== null)) {
      const error = objectOf(event.error) ?? event;
      return this.fault(
        readOpenAiFault(
          statusOfFault({ ...error, type: error === event ? undefined : error.type }),
          error === event ? { ...event, type: undefined } : event,
        ),
      );
    }
    const response = objectOf(event.response);
    if (response !== null) {
      this.id ??= filledOf(response.id);
      this.tier = response.service_tier ?? this.tier;
      this.start();
    }
    switch (type) {
      case "response.completed":
      case "response.incomplete":
        return this.complete(response ?? {});
      case "response.failed":
      case "response.cancelled": {
        const error = objectOf(response?.error) ?? {};
        return this.fault(readOpenAiFault(statusOfFault(error), { error }));
      }
      case "response.output_item.added":
        return this.item(event).added(objectOf(event.item) ?? {});
      case "response.output_item.done":
        this.picture(picturePart(objectOf(event.item) ?? {}));
        return this.item(event).done(objectOf(event.item) ?? {});
      case "response.output_text.delta":
        return this.item(event).text("text", wholeOf(event.content_index) ?? 0, stringOf(event.delta));
      case "response.refusal.delta":
        return this.item(event).text("refusal", wholeOf(event.content_index) ?? 0, stringOf(event.delta));
      case "response.output_text.done":
        return this.item(event).textDone("text", wholeOf(event.content_index) ?? 0, stringOf(event.text));
      case "response.output_text.annotation.added":
        return this.item(event).annotation(wholeOf(event.content_index) ?? 0, objectOf(event.annotation) ?? {});
      case "response.refusal.done":
        return this.item(event).textDone("refusal", wholeOf(event.content_index) ?? 0, stringOf(event.refusal));
      case "response.reasoning_summary_text.delta":
        return this.item(event).reasoning("summary", wholeOf(event.summary_index) ?? 0, stringOf(event.delta));
      case "response.reasoning_text.delta":
        return this.item(event).reasoning("content", wholeOf(event.content_index) ?? 0, stringOf(event.delta));
      case "response.function_call_arguments.delta":
        return this.item(event).fragment(stringOf(event.delta));
      default:
      // All other events repeat these, or concern tools that the gateway did not request.
    }
  }

  protected done(): void {}

  protected finish(): boolean {
    return this.ended;
  }

  beginPart(type: "text" | "reasoning" | "refusal"): number {
    const part = this.kinds.push({ kind: type }) - 1;
    this.emit({ kind: "part_start", candidate: 0, part, type });
    return part;
  }

  beginCall(id: string, name: string): number {
    const part = this.kinds.push({ kind: "tool_call" }) - 1;
    this.emit({ kind: "part_start", candidate: 0, part, type: "tool_call", id, name });
    return part;
  }

  say(event: ConversationEvent): void {
    this.emit(event);
  }

  private item(event: JsonObject): ItemReader {
    this.start();
    const key = String(wholeOf(event.output_index) ?? filledOf(event.item_id) ?? "");
    let item = this.items.get(key);
    if (item === undefined) {
      refuseTooManyParts(this.items.size);
      const place = wholeOf(event.output_index) ?? this.items.size;
      this.items.set(key, (item = new ItemReader(this, () => newCallId(this.id, place))));
    }
    return item;
  }

  private start(): void {
    if (this.started) return;
    this.started = true;
    this.emit({ kind: "start", id: this.id });
  }

  private complete(response: JsonObject): void {
    this.start();
    for (const item of this.items.values()) item.end();
    // Some servers send the whole answer in the final event only.
    if (this.kinds.length === 0) for (const part of outputParts(response.output, this.id)) this.whole(part);
    const usage = servedByOpenAi(readResponsesUsage(response.usage), response.service_tier);
    if (usage !== null) this.emit({ kind: "usage", usage });
    this.emit({ kind: "stop", candidate: 0, reason: responsesStopReason(response, this.kinds), stopSequence: null, stopDetail: null });
    this.ended = true;
    this.closed = true;
  }

  private picture(part: PicturePart | null): void {
    if (part === null) return;
    this.start();
    this.emit({ candidate: 0, part: this.kinds.push(part) - 1, ...part });
  }

  private whole(part: ReplyPart): void {
    if (part.kind === "picture") return this.picture(part);
    const number = part.kind === "tool_call" ? this.beginCall(part.id, part.name) : this.beginPart(part.kind);
    const text = part.kind === "tool_call" ? part.arguments : part.text;
    if (text !== "") this.emit({ kind: "delta", candidate: 0, part: number, text });
    if (part.kind === "reasoning" && part.signature !== undefined)
      this.emit({ kind: "signature", candidate: 0, part: number, signature: part.signature, redacted: part.redacted });
    if (part.kind === "text")
      for (const citation of part.citations ?? []) this.emit({ kind: "citation", candidate: 0, part: number, citation });
    this.emit({ kind: "part_end", candidate: 0, part: number });
  }
}
