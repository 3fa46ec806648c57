/** Characters of a phrase that decide whether its pattern is tried. */
const LETTERS = 8;

/** A possible beginning: the characters that are certain, and `open` if anything may follow them. */
interface Start {
  readonly text: string;
  readonly open: boolean;
}

const NOTHING: readonly Start[] = [{ text: "", open: false }];
const ANYTHING: readonly Start[] = [{ text: "", open: true }];

function follow(heads: readonly Start[], tails: readonly Start[]): Start[] {
  return heads.flatMap((head) =>
    head.open || head.text.length >= LETTERS ? [head] : tails.map(({ text, open }) => ({ text: head.text + text, open })),
  );
}

/**
 * Reads a regular expression only as far as its first characters matter: literals, white space, groups, alternatives
 * and small classes are understood; any other class stands for any character.
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
    if (character === "[") return this.#class();
    if (character === "\\") {
      const code = this.#codeEscape();
      if (code !== null) return [{ text: code, open: false }];
      const escaped = this.#source.charAt(this.#at++);
      if (escaped === "s") return [{ text: " ", open: false }];
      if (escaped === "b") return NOTHING;
      if (escaped === "p") this.#at = this.#source.indexOf("}", this.#at) + 1;
      return /[a-z]/i.test(escaped) ? ANYTHING : [{ text: escaped, open: false }];
    }
    return character === "." || character === "$" ? ANYTHING : [{ text: character.toLowerCase(), open: false }];
  }

  /** The character of a `\\uXXXX` escape whose backslash was read; null if it is another escape. */
  #codeEscape(): string | null {
    const digits = /^u([0-9a-f]{4})/i.exec(this.#source.slice(this.#at, this.#at + 5))?.[1];
    if (digits === undefined) return null;
    this.#at += 5;
    return String.fromCharCode(Number.parseInt(digits, 16)).toLowerCase();
  }

  /** The characters of a small class; any other class may match anything. */
  #class(): readonly Start[] {
    const members: string[] = [];
    let isNamed = true;
    while (this.#source[this.#at] !== "]") {
      const character = this.#source.charAt(this.#at++);
      const code = character === "\\" ? this.#codeEscape() : character.toLowerCase();
      if (code === null) this.#at++;
      if (code === null || code === "^" || code === "-" || /[\ud800-\udfff]/.test(code)) isNamed = false;
      else members.push(code);
    }
    this.#at++;
    return isNamed && members.length <= 4 ? members.map((text) => ({ text, open: false })) : ANYTHING;
  }

  /** The atom as its quantifier allows: absent, or repeated. */
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

/** All possible beginnings of what `pattern` matches: up to eight characters in lower case, fewer where anything may follow. */
export function patternPrefixes(pattern: string): ReadonlySet<string> {
  return new Set(new FirstLetters(pattern).alternatives().map(({ text }) => text.slice(0, LETTERS)));
}
