/** How formats count positions in a text: in Unicode code points, UTF-8 bytes or UTF-16 code units, as JavaScript does. */
export type TextUnit = "code points" | "bytes" | "code units";

/** Converts positions in one text between UTF-16 code units and another unit. */
export class TextPositions {
  private readonly text: string;
  /** The position in `unit` of each position in code units; null if they are the same. */
  private readonly counts: Uint32Array | null;

  constructor(unit: TextUnit, text: string) {
    this.text = text;
    const isSame = unit === "code units" || Buffer.byteLength(text) === text.length;
    this.counts = isSame ? null : countsOf(unit, text);
  }

  /** The position, counted in the unit, of a position in code units. */
  of(position: number): number {
    const within = Math.min(Math.max(0, Math.trunc(position)), this.text.length);
    return this.counts === null ? within : (this.counts[within] as number);
  }

  /** The position in code units of one counted in the unit; null if the text is shorter, or the position within a character. */
  from(position: number): number | null {
    const { counts } = this;
    if (!Number.isInteger(position)) return null;
    if (counts === null) return position >= 0 && position <= this.text.length ? position : null;
    let low = 0;
    let high = this.text.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((counts[middle] as number) < position) low = middle + 1;
      else high = middle;
    }
    return counts[low] === position ? low : null;
  }
}

function countsOf(unit: TextUnit, text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1);
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    counts[at] = count;
    const code = text.codePointAt(at) ?? 0;
    // The middle of a surrogate pair is no position of its own: it counts as the start of the character.
    if (code > 0xffff) counts[++at] = count;
    count += unit === "code points" ? 1 : code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  counts[text.length] = count;
  return counts;
}
