import { refuseTooManyParts } from "../../streams/stream-bounds.ts";
import type { ConversationEvent } from "../../conversation/reply.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { CandidateReader } from "./candidate-reader.ts";
import { EventReader } from "../event-reader.ts";
import { readOpenAiFault, statusOfFault } from "../fault.ts";
import { filledOf, objectOf, objectsOf, wholeOf } from "../loose-fields.ts";
import { servedByOpenAi, servingByOpenAi } from "../../serving.ts";
import type { ServiceTier } from "../../usage.ts";
import { readChatUsage } from "../usage.ts";

/** Reads the chunks of a streamed chat completion of OpenAI or a compatible server. */
export class ChatStreamReader extends EventReader {
  private readonly candidates = new Map<number, CandidateReader>();
  private id: string | null = null;
  private tier: unknown = null;
  private started = false;

  get served(): ServiceTier {
    return servingByOpenAi(this.tier);
  }

  protected read(chunk: JsonObject): void {
    const error = objectOf(chunk.error) ?? (filledOf(chunk.error) === null && chunk.object !== "error" ? null : chunk);
    if (error !== null) return this.fault(readOpenAiFault(statusOfFault(error), chunk));
    this.id ??= filledOf(chunk.id);
    for (const [choice, place] of objectsOf(chunk.choices)) {
      this.start();
      const index = wholeOf(choice.index) ?? place;
      let candidate = this.candidates.get(index);
      if (candidate === undefined) {
        refuseTooManyParts(this.candidates.size);
        this.candidates.set(index, (candidate = new CandidateReader(index, this.id, (event: ConversationEvent) => this.emit(event))));
      }
      candidate.read(choice);
    }
    this.tier = chunk.service_tier ?? this.tier;
    const usage = servedByOpenAi(readChatUsage(chunk.usage ?? objectOf(chunk.x_groq)?.usage), this.tier);
    if (usage !== null) {
      this.start();
      this.emit({ kind: "usage", usage });
    }
  }

  /** Some servers omit the finish reason, but `[DONE]` still ends the answer. */
  protected done(): void {
    for (const candidate of this.candidates.values()) candidate.stop(null, null, null);
  }

  protected finish(): boolean {
    if (this.candidates.size === 0) return false;
    for (const candidate of this.candidates.values()) if (!candidate.stopped) return false;
    return true;
  }

  private start(): void {
    if (this.started) return;
    this.started = true;
    this.emit({ kind: "start", id: this.id });
  }
}
