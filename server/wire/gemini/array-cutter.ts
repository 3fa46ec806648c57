import { refuseCostlyFrame } from "../streams/stream-bounds.ts";
import { HeldBytes } from "../streams/held-bytes.ts";

const QUOTE = 34;
const COMMA = 44;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/**
 * Splits a JSON array into its elements without changing a byte: each element includes the preceding bracket, comma and
 * white space. Elements must be objects; anything other than an array is never split.
 */
export class ArrayCutter {
  private readonly held = new HeldBytes();
  private depth = 0;
  /** Whether the outermost value is an array; otherwise it is an error, and stays whole. */
  private inArray = false;
  private inString = false;
  private escaped = false;

  push(piece: Uint8Array): Uint8Array[] {
    const elements: Uint8Array[] = [];
    let start = 0;
    for (let i = 0; i < piece.length; i++) {
      const c = piece[i] as number;
      if (this.inString) {
        if (this.escaped) this.escaped = false;
        else if (c === BACKSLASH) this.escaped = true;
        else if (c === QUOTE) this.inString = false;
        continue;
      }
      if (c === QUOTE) this.inString = true;
      else if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        if (this.depth === 0) this.inArray = c === OPEN_BRACKET;
        this.depth++;
      } else if (c === CLOSE_BRACE || c === CLOSE_BRACKET) {
        this.depth--;
        // An object that closes to the array's depth is an element; the array's closing bracket remains.
        if (c === CLOSE_BRACE && this.depth === 1 && this.inArray) {
          elements.push(this.take(piece.subarray(start, i + 1)));
          start = i + 1;
        }
      }
    }
    if (start < piece.length) this.held.add(piece.subarray(start));
    return elements;
  }

  /** The bytes after the last element. */
  rest(): Uint8Array {
    return this.held.view();
  }

  private take(end: Uint8Array): Uint8Array {
    let element = end;
    if (this.held.length > 0) {
      this.held.add(end);
      element = this.held.take();
    }
    refuseCostlyFrame(element);
    return element;
  }
}

/** The JSON text of an element, without the bracket or comma before it. */
export function elementData(element: string): string {
  let at = 0;
  while (at < element.length && (element.charCodeAt(at) <= 32 || element.charCodeAt(at) === COMMA || element[at] === "[")) at++;
  return element.slice(at);
}
