import type { TextSlot } from "../inbound.ts";
import { distinctNames } from "../json/json-leaves.ts";
import { replaceMessageTexts } from "./message-texts.ts";

/**
 * A message of a tool server with its texts, each replaceable in place; the rest keeps its exact spelling. The texts that a tool
 * answered in blocks lie together: models read them as one.
 */
export class MessageSlots {
  readonly slots: readonly TextSlot[];
  private readonly said: string[] = [];
  private readonly asked: readonly string[];
  private readonly message: string;
  private changed = false;

  /** `message` has parsed as JSON. */
  constructor(message: string) {
    this.message = message;
    const isBlock: boolean[] = [];
    replaceMessageTexts(message, (text, block) => {
      this.said.push(text);
      isBlock.push(block);
      return text;
    });
    this.asked = [...this.said];
    const slots = this.said.map((_, at) => this.slotAt(at, isBlock[at] === true));
    this.slots = [...slots.filter((_, at) => isBlock[at]), ...slots.filter((_, at) => isBlock[at] !== true)];
  }

  private slotAt(at: number, isBlock: boolean): TextSlot {
    const { said } = this;
    return {
      role: "tool",
      kind: "text",
      ...(isBlock ? { owner: this } : {}),
      get text() {
        return said[at] ?? "";
      },
      replace: (other) => {
        said[at] = other;
        this.changed = true;
      },
    };
  }

  /** The message as it stands now; null where nothing was replaced. */
  text(): string | null {
    if (!this.changed) return null;
    let next = 0;
    const name = distinctNames(this.asked);
    return replaceMessageTexts(this.message, (text, _, isName) => {
      const out = this.said[next++] ?? text;
      return isName && out !== text ? name(text, out) : out;
    });
  }
}
