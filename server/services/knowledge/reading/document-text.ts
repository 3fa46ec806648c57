/** A stretch of a document under one heading: paragraphs, tables, code, each whole. */
export interface Section {
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  readonly blocks: readonly string[];
}

/** Why a document cannot be read, in words for whoever uploaded it. */
export class UnreadableDocument extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "UnreadableDocument";
  }
}

/** Gathers sections in the order a document is read. */
export class Sections {
  readonly all: Section[] = [];
  private headings: string[] = [];
  private blocks: string[] = [];

  heading(level: number, text: string): void {
    this.close();
    // A level that was left out stands empty, so that what follows finds its own.
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
