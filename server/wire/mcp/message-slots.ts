import type { TextSlot } from "../inbound.ts";
import { distinctNames } from "../json/json-leaves.ts";
import { replaceMessageTexts, type Except, type MessagePlace } from "./message-texts.ts";

/**
 * The texts of a tool server's message, each replaceable in place; everything else keeps its exact spelling. A tool's text
 * blocks are adjacent, because models read them as one text.
 */
export class MessageSlots {
  readonly slots: readonly TextSlot[];
  private readonly texts: string[] = [];
  private readonly callersTexts: readonly string[];
  private readonly message: string;
  private readonly except: Except | undefined;
  private changed = false;

  /** `message` must be valid JSON. `except` names parts of the result that are inspected separately. */
  constructor(message: string, except?: Except) {
    this.message = message;
    this.except = except;
    const places: MessagePlace[] = [];
    replaceMessageTexts(
      message,
      (text, place) => {
        this.texts.push(text);
        places.push(place);
        return text;
      },
      except,
    );
    this.callersTexts = [...this.texts];
    const slots = places.map((place, at) => this.slotAt(at, place));
    this.slots = [...slots.filter((_, at) => places[at] === "block"), ...slots.filter((_, at) => places[at] !== "block")];
  }

  private slotAt(at: number, place: MessagePlace): TextSlot {
    const { texts } = this;
    return {
      role: "tool",
      kind: "text",
      ...(place === "block" ? { owner: this } : {}),
      ...(place === "aside" ? { rulesOnly: true } : {}),
      get text() {
        return texts[at] ?? "";
      },
      replace: (other) => {
        texts[at] = other;
        this.changed = true;
      },
    };
  }

  /** The message after replacements; null if nothing was replaced. */
  text(): string | null {
    if (!this.changed) return null;
    let next = 0;
    const name = distinctNames(this.callersTexts);
    return replaceMessageTexts(
      this.message,
      (text, place) => {
        const out = this.texts[next++] ?? text;
        return place === "name" && out !== text ? name(text, out) : out;
      },
      this.except,
    );
  }
}
