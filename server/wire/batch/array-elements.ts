import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "../json/json-members.ts";
import { type InputPiece, PieceTooLong } from "./text-lines.ts";

const BACKSLASH = 92;
const COMMA = 44;

/**
 * Reads a JSON object in chunks and yields the elements of its member `name`, an array of objects, one at a time, holding
 * at most one element in memory. The rest of the object, with that array empty, is `envelope`. Only finds boundaries;
 * parsing and validation are left to the caller.
 */
export class ArrayElements {
  private readonly name: string;
  private readonly mostBytes: number;
  private rest: number[] = [];
  /** Bytes between elements: not kept, but counted towards the limit. */
  private between = 0;
  private element: number[] | null = null;
  private depth = 0;
  private inText = false;
  private escaped = false;
  private textFrom = 0;
  private lastText = "";
  private inArray = false;
  private awaited: "element or end" | "comma or end" | "element" = "element or end";
  private number = 0;
  /** How often the member occurred. */
  found = 0;
  /** Set if the array contains anything other than objects. */
  stray = false;
  /** Set if a comma between two elements is missing or superfluous. */
  torn = false;

  constructor(name: string, mostBytes: number) {
    this.name = name;
    this.mostBytes = mostBytes;
  }

  get envelope(): string {
    return new TextDecoder().decode(Uint8Array.from(this.rest));
  }

  async *read(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<InputPiece> {
    for await (const piece of bytes) yield* this.take(piece);
  }

  private *take(piece: Uint8Array): Generator<InputPiece> {
    for (const byte of piece) {
      if (this.element !== null) this.element.push(byte);
      else if (this.inArray && this.depth === 2 && byte !== CLOSE_BRACKET) this.between++;
      else this.rest.push(byte);
      if ((this.element?.length ?? this.rest.length + this.between) > this.mostBytes)
        throw new PieceTooLong(this.element === null ? null : this.number + 1);
      if (this.inText) {
        if (this.escaped) this.escaped = false;
        else if (byte === BACKSLASH) this.escaped = true;
        else if (byte === QUOTE) this.endText();
        continue;
      }
      const done = this.step(byte);
      if (done !== null) yield done;
    }
  }

  private endText(): void {
    this.inText = false;
    if (this.depth === 1) this.lastText = new TextDecoder().decode(Uint8Array.from(this.rest.slice(this.textFrom, -1)));
  }

  private step(byte: number): InputPiece | null {
    switch (byte) {
      case QUOTE:
        this.inText = true;
        this.textFrom = this.rest.length;
        if (this.inArray && this.depth === 2) this.stray = true;
        return null;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        this.open(byte);
        return null;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        return this.close();
      case COMMA:
        if (this.depth === 1) this.lastText = "";
        if (this.inArray && this.depth === 2) this.comma();
        return null;
      default:
        if (this.inArray && this.depth === 2 && byte > 32) this.stray = true;
        return null;
    }
  }

  private open(byte: number): void {
    if (this.depth === 1 && byte === OPEN_BRACKET && this.lastText === this.name) {
      this.inArray = true;
      this.awaited = "element or end";
      this.found++;
    } else if (this.inArray && this.depth === 2) {
      if (this.awaited === "comma or end") this.torn = true;
      if (byte === OPEN_BRACE) this.element = [byte];
      else this.stray = true;
    }
    this.depth++;
  }

  private comma(): void {
    if (this.awaited !== "comma or end") this.torn = true;
    this.awaited = "element";
  }

  private close(): InputPiece | null {
    this.depth--;
    if (this.inArray && this.depth === 1) {
      this.inArray = false;
      if (this.awaited === "element") this.torn = true;
    }
    if (!this.inArray || this.depth !== 2 || this.element === null) return null;
    const text = Uint8Array.from(this.element);
    this.element = null;
    this.awaited = "comma or end";
    return { number: ++this.number, text };
  }
}
