import { RE2JS } from "re2js";

/** A pattern. The anchored expressions that locate a match are compiled on first use, because most patterns never match. */
export class Pattern {
  readonly anywhere: RE2JS;
  /** Number of instructions. */
  readonly size: number;
  readonly #source: string;
  #behindOne: RE2JS | null = null;
  #atStart: RE2JS | null = null;

  constructor(source: string, anywhere: RE2JS) {
    this.#source = source;
    this.anywhere = anywhere;
    this.size = anywhere.programSize();
  }

  /** Matches after exactly one character, so that word boundaries see what precedes. */
  get behindOne(): RE2JS {
    return (this.#behindOne ??= RE2JS.compile(`\\A(?s:.)(?:${this.#source})`));
  }

  get atStart(): RE2JS {
    return (this.#atStart ??= RE2JS.compile(`\\A(?:${this.#source})`));
  }
}
