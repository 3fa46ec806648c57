/** Pseudo-random numbers that are the same on every run. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In the range [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer in the inclusive range. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.between(0, values.length - 1)]!;
  }

  /** `length` random characters of `alphabet`. */
  text(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[this.between(0, alphabet.length - 1)]).join("");
  }

  /** Replaces `#` with a digit, `N` with a digit from 2 to 9 and `X` with a digit from 1 to 9. */
  digits(mask: string): string {
    return mask.replace(/[#NX]/g, (sign) => String(this.between(sign === "#" ? 0 : sign === "X" ? 1 : 2, 9)));
  }
}
