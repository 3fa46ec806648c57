/** How many characters of a phrase decide whether its pattern is tried. */
const LETTERS = 8;

/** What may stand at the start: as many characters as are certain, `open` when any character may follow them. */
interface Start {
  readonly text: string;
  readonly open: boolean;
}

const NOTHING: readonly Start[] = [{ text: "", open: false }];
const ANYTHING: readonly Start[] = [{ text: "", open: true }];

function follow(heads: readonly Start[], tails: readonly Start[]): Start[] {
  return heads.flatMap((head) => (head.open || head.text.length >= LETTERS ? [head] : tails.map(({ text, open }) => ({ text: head.text + text, open }))));
}

/**
 * Reads the source of a regular expression only as far as its first letters matter: literals, white space, groups and
 * alternatives are understood, and any class stands for any character.
 */
class FirstLetters {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  alternatives(): readonly Start[] {
    const starts: Start[] = [...this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      starts.push(...this.#sequence());
    }
    return starts;
  }

  #sequence(): readonly Start[] {
    let starts: readonly Start[] = NOTHING;
    while (this.#at < this.#source.length && this.#source[this.#at] !== "|" && this.#source[this.#at] !== ")") {
      const atom = this.#atom();
      starts = follow(starts, this.#quantified(atom));
    }
    return starts;
  }

  #atom(): readonly Start[] {
    const character = this.#source.charAt(this.#at++);
    if (character === "(") {
      const assertion = /^\?(?:<?[!=])/.exec(this.#source.slice(this.#at, this.#at + 3))?.[0];
      this.#at += assertion?.length ?? 2;
      const inner = this.alternatives();
      this.#at++;
      return assertion === undefined ? inner : NOTHING;
    }
    if (character === "[") {
      while (this.#source[this.#at] !== "]") this.#at += this.#source[this.#at] === "\\" ? 2 : 1;
      this.#at++;
      return ANYTHING;
    }
    if (character === "\\") {
      const escaped = this.#source.charAt(this.#at++);
      if (escaped === "s") return [{ text: " ", open: false }];
      if (escaped === "b") return NOTHING;
      if (escaped === "p") this.#at = this.#source.indexOf("}", this.#at) + 1;
      return /[a-z]/i.test(escaped) ? ANYTHING : [{ text: escaped, open: false }];
    }
    return character === "." || character === "$" ? ANYTHING : [{ text: character.toLowerCase(), open: false }];
  }

  /** The atom with what its quantifier allows: nothing, or more of it. */
  #quantified(atom: readonly Start[]): readonly Start[] {
    const quantifier = /^(?:[?*+]|\{(\d+)(?:,(\d*))?\})\??/.exec(this.#source.slice(this.#at, this.#at + 12));
    if (quantifier === null) return atom;
    this.#at += quantifier[0].length;
    const [whole, fewest] = quantifier;
    const repeats = whole.startsWith("{") || whole.startsWith("*") || whole.startsWith("+");
    const once = repeats ? follow(atom, ANYTHING) : atom;
    return whole.startsWith("?") || whole.startsWith("*") || fewest === "0" ? [...once, ...NOTHING] : once;
  }
}

/** Every way in which what `pattern` matches may begin: up to eight characters in lower case, fewer where any may follow. */
export function firstLetters(pattern: string): ReadonlySet<string> {
  return new Set(new FirstLetters(pattern).alternatives().map(({ text }) => text.slice(0, LETTERS)));
}
