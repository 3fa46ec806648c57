import type { JsonObject } from "../document.ts";
import { stringOf } from "../openai/loose-fields.ts";
import { type EventPlace, PassedEvents } from "../passed-events.ts";
import type { Usage } from "../usage.ts";
import { usageOfTranscript } from "./transcript-usage.ts";

/** A streamed transcript on its way from provider to caller. */
export class TranscriptStream extends PassedEvents {
  private readonly seconds: number | null;
  private told: JsonObject = {};
  protected complete = false;
  outputLength = 0;

  constructor(seconds: number | null) {
    super();
    this.seconds = seconds;
  }

  get usage(): Usage | null {
    return this.begun ? usageOfTranscript(this.told, this.seconds) : null;
  }

  protected read(event: JsonObject, type: string): EventPlace {
    if (!type.startsWith("transcript.text.")) return "within";
    this.begun = true;
    this.outputLength += (stringOf(event.delta) ?? "").length;
    if (type !== "transcript.text.done") return "within";
    this.told = event;
    this.complete = true;
    return "ends";
  }
}
