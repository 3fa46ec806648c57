import { RE2JS } from "re2js";

/** Most patterns are found nowhere: what says where one matches is compiled when it is asked first. */
export class Pattern {
  readonly anywhere: RE2JS;
  /** Instructions. */
  readonly size: number;
  readonly #source: string;
  #behindOne: RE2JS | null = null;
  #atStart: RE2JS | null = null;

  constructor(source: string, anywhere: RE2JS) {
    this.#source = source;
    this.anywhere = anywhere;
    this.size = anywhere.programSize();
  }

  /** Matches behind exactly one character, so that word boundaries see what stands before. */
  get behindOne(): RE2JS {
    return (this.#behindOne ??= RE2JS.compile(`\\A(?s:.)(?:${this.#source})`));
  }

  get atStart(): RE2JS {
    return (this.#atStart ??= RE2JS.compile(`\\A(?:${this.#source})`));
  }
}
