import type { TextSlot } from "../inbound.ts";
import { replaceMessageTexts } from "./message-texts.ts";

/** A message of a tool server with its texts, each replaceable in place; the rest keeps its exact spelling. */
export class MessageSlots {
  readonly slots: readonly TextSlot[];
  private readonly said: string[] = [];
  private readonly message: string;
  private changed = false;

  /** `message` has parsed as JSON. */
  constructor(message: string) {
    this.message = message;
    replaceMessageTexts(message, (text) => {
      this.said.push(text);
      return text;
    });
    this.slots = this.said.map((text, at): TextSlot => ({
      role: "tool",
      kind: "text",
      text,
      replace: (other) => {
        this.said[at] = other;
        this.changed = true;
      },
    }));
  }

  /** The message as it stands now; null where nothing was replaced. */
  text(): string | null {
    if (!this.changed) return null;
    let next = 0;
    return replaceMessageTexts(this.message, (text) => this.said[next++] ?? text);
  }
}
