/** Part of a document under one heading. Each block is a whole paragraph, table row or piece of code. */
export interface Section {
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  readonly blocks: readonly string[];
}

/** A document cannot be read; the message tells its uploader why. */
export class UnreadableDocument extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "UnreadableDocument";
  }
}

/** Collects sections in document order. */
export class Sections {
  readonly all: Section[] = [];
  private headings: string[] = [];
  private blocks: string[] = [];

  heading(level: number, text: string): void {
    this.close();
    // Skipped levels stay empty, so that later headings keep their levels.
    this.headings = Array.from({ length: level - 1 }, (_, i) => this.headings[i] ?? "");
    this.headings.push(text.slice(0, 200));
  }

  block(text: string): void {
    if (text.trim() !== "") this.blocks.push(text);
  }

  close(): readonly Section[] {
    if (this.blocks.length > 0) this.all.push({ headings: this.headings.filter((text) => text !== ""), blocks: this.blocks });
    this.blocks = [];
    return this.all;
  }
}
