import { type RequestVisitor, textAt } from "./text-places.ts";

/** Sums up what controls and estimates need to know of the texts, without creating slots. */
export class TextMeasure {
  private readonly parts: string[] = [];
  characters = 0;

  readonly visit: RequestVisitor = (role, kind, holder, key) => {
    const text = textAt(holder, key);
    this.characters += text.length;
    if (role === "system" && kind === "text") this.parts.push(text);
  };

  /** All instruction texts, joined with line feeds; null if there are none. */
  get instructions(): string | null {
    return this.parts.length === 0 ? null : this.parts.join("\n");
  }
}
