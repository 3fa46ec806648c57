import type { JsonObject } from "../../kernel/json-value.ts";
import { stringOf } from "../openai/loose-fields.ts";
import { type EventPlace, PassedEvents } from "../streams/passed-events.ts";
import type { Usage } from "../usage.ts";
import { usageOfBrokenTranscript, usageOfTranscript } from "./transcript-usage.ts";

/** Passes a streamed transcript through. */
export class TranscriptStream extends PassedEvents {
  private readonly seconds: number | null;
  private readonly byTokens: boolean;
  private fields: JsonObject = {};
  protected complete = false;
  outputLength = 0;

  /** `byTokens`: the model is priced by tokens only, so they are estimated if the stream ends before reporting them. */
  constructor(seconds: number | null, byTokens = false) {
    super();
    this.seconds = seconds;
    this.byTokens = byTokens;
  }

  get usage(): Usage | null {
    if (this.begun && !this.complete && this.byTokens && this.seconds !== null)
      return usageOfBrokenTranscript(this.seconds, this.outputLength);
    return this.begun ? usageOfTranscript(this.fields, this.seconds) : null;
  }

  protected read(event: JsonObject, type: string): EventPlace {
    if (!type.startsWith("transcript.text.")) return "within";
    this.begun = true;
    this.outputLength += (stringOf(event.delta) ?? "").length;
    if (type !== "transcript.text.done") return "within";
    this.fields = event;
    this.complete = true;
    return "ends";
  }
}
