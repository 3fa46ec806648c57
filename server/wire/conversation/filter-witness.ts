import type { JsonObject } from "../../kernel/json-value.ts";
import type { ProviderCodec, StreamReader } from "./codec.ts";
import type { ConversationEvent, StopReason } from "./reply.ts";

const REFUSALS: ReadonlySet<StopReason> = new Set(["filtered", "refusal"]);

/** Whether the provider or its model refused to answer: each of the answer's candidates was ended by a filter or is a refusal. */
export function isRefusedAnswer(codec: ProviderCodec, body: JsonObject): boolean {
  const candidates = codec.readReply(body)?.candidates ?? [];
  return candidates.length > 0 && candidates.every(({ stop }) => REFUSALS.has(stop));
}

/** Watches the beginning of an answer's stream, in the provider's format, for a refusal that comes before any content. */
export class FilterWitness {
  private readonly reader: StreamReader;
  private readonly refusals = new Set<string>();
  private understands = false;
  private hasContent = false;
  private isRefused = false;

  constructor(codec: ProviderCodec) {
    this.reader = codec.streamReader();
  }

  push(piece: Uint8Array): void {
    this.note(this.reader.push(piece));
  }

  /** Call when the provider's stream has ended: some formats tell only then why. */
  end(): void {
    this.note(this.reader.end().events);
  }

  /**
   * Whether what came until now may still turn out to be a refusal. `length`: of the output so far; whatever it is, it is content if it is not
   * the text of a refusal, also if the reader has no event for it.
   */
  mayBeRefused(length: number): boolean {
    return this.understands && !this.hasContent && (length === 0 || this.refusals.size > 0);
  }

  /** Whether a refusal is all that the answer holds; known at its end. */
  get isRefusal(): boolean {
    return !this.hasContent && this.isRefused;
  }

  private note(events: readonly ConversationEvent[]): void {
    for (const event of events) {
      this.understands = true;
      if (event.kind === "part_start" && event.type === "refusal") this.refusals.add(`${event.candidate}.${event.part}`);
      else if (event.kind === "part_start") this.hasContent ||= event.type === "tool_call";
      else if (event.kind === "delta") this.hasContent ||= !this.refusals.has(`${event.candidate}.${event.part}`);
      else if (event.kind === "stop" && REFUSALS.has(event.reason)) this.isRefused = true;
      else if (event.kind === "stop" || event.kind === "picture" || event.kind === "fault") this.hasContent = true;
    }
  }
}
