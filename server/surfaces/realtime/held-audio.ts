import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf } from "../../wire/openai/loose-fields.ts";

interface PartAudio {
  readonly events: JsonObject[];
  transcript: string | null;
}

const AUDIO = /^response\.(?:output_)?audio\.(?:delta|done)$/;

const partOf = (event: JsonObject): string => `${String(event.item_id)} ${String(event.content_index)}`;

/** The audio of a response, which is given out part by part once the part's transcript has passed every control unchanged. */
export class HeldAudio {
  private readonly parts = new Map<string, PartAudio>();
  private readonly maxHeld: number;
  private held = 0;

  constructor(maxHeld: number) {
    this.maxHeld = maxHeld;
  }

  static isAudio(type: string): boolean {
    return AUDIO.test(type);
  }

  /** False if no more can be held. `length`: that of the whole event. */
  hold(event: JsonObject, length: number): boolean {
    this.held += length;
    if (this.held > this.maxHeld) return false;
    this.part(event).events.push(event);
    return true;
  }

  /** Notes the transcript as the model gave it. */
  transcribed(event: JsonObject): void {
    this.part(event).transcript = filledOf(event.transcript);
  }

  /** The audio of the part whose transcript has passed as this event has it; nothing if a control changed it. */
  released(event: JsonObject): readonly JsonObject[] {
    const part = this.part(event);
    const isUnchanged = part.transcript !== null && part.transcript === event.transcript;
    return isUnchanged ? part.events.splice(0) : [];
  }

  clear(): void {
    this.parts.clear();
    this.held = 0;
  }

  private part(event: JsonObject): PartAudio {
    const key = partOf(event);
    let part = this.parts.get(key);
    if (part === undefined) this.parts.set(key, (part = { events: [], transcript: null }));
    return part;
  }
}
