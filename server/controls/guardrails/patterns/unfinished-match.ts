/** Part of an expression: its source, and an expression for beginnings of its match; null if its match is empty. */
interface Part {
  readonly source: string;
  readonly begun: string | null;
}

/** The expression has syntax that this reader does not know. */
class Unknown extends Error {}

const either = (...expressions: readonly (string | null)[]): string | null => {
  const some = expressions.filter((expression) => expression !== null);
  return some.length === 0 ? null : some.join("|");
};

/** Reads RE2 syntax that the engine has already accepted. */
class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  whole(): Part {
    const part = this.#alternatives();
    if (this.#at < this.#source.length) throw new Unknown();
    return part;
  }

  #alternatives(): Part {
    // Flags are accepted only at the start, where they apply to all alternatives; elsewhere the rewritten expression would
    // change their scope.
    const flags = /^(?:\(\?[imsU-]+\))*/.exec(this.#source.slice(this.#at))?.[0] ?? "";
    this.#at += flags.length;
    const all = [this.#sequence()];
    while (this.#source[this.#at] === "|") {
      this.#at++;
      all.push(this.#sequence());
    }
    const begun = either(...all.map((part) => part.begun));
    return { source: flags + all.map(({ source }) => source).join("|"), begun: begun === null ? null : flags + begun };
  }

  /** Beginnings of a sequence: a beginning of the first part, or the first part and a beginning of the rest. */
  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && this.#source[this.#at] !== "|" && this.#source[this.#at] !== ")")
      parts.push(this.#repeated(this.#atom()));
    let begun: string | null = null;
    for (const part of parts.toReversed()) begun = either(part.begun, begun === null ? null : `${part.source}(?:${begun})`);
    return { source: parts.map(({ source }) => source).join(""), begun: begun === null ? null : `(?:${begun})` };
  }

  #repeated(part: Part): Part {
    const from = this.#at;
    const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(this.#source.slice(from, from + 16));
    if (quantifier === null) return part;
    const [whole, least, bounded, most] = quantifier;
    this.#at += whole.length;
    const source = part.source + whole;
    if (part.begun === null) return { source, begun: null };
    const times = whole.startsWith("?")
      ? 1
      : least === undefined || most === ""
        ? Number.POSITIVE_INFINITY
        : Number(bounded === undefined ? least : most);
    if (times <= 1) return { source, begun: times === 0 ? null : part.begun };
    return { source, begun: `(?:${part.source})${times === Number.POSITIVE_INFINITY ? "*" : `{0,${times - 1}}`}(?:${part.begun})` };
  }

  #atom(): Part {
    const from = this.#at;
    const character = String.fromCodePoint(this.#source.codePointAt(from) ?? 0);
    this.#at += character.length;
    if (character === "(") return this.#group();
    if (character === "[") return this.#one(/^\[\^?\]?(?:\[:\^?\w+:\]|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\[^QEC\d]|[^\]\\])*\]/u, from);
    if (character === "\\") {
      if (/^\\[AbBz]/.test(this.#source.slice(from, from + 2))) {
        this.#at++;
        return { source: this.#source.slice(from, this.#at), begun: null };
      }
      return this.#one(/^\\(?:[pP](?:\{[^}]*\}|[A-Z])|x(?:\{[^}]*\}|[\da-fA-F]{2})|[^pPxQEC\d])/u, from);
    }
    if (character === "^" || character === "$") return { source: character, begun: null };
    return { source: character, begun: character };
  }

  /** A part that matches one character. */
  #one(shape: RegExp, from: number): Part {
    const source = shape.exec(this.#source.slice(from))?.[0];
    if (source === undefined) throw new Unknown();
    this.#at = from + source.length;
    return { source, begun: source };
  }

  #group(): Part {
    const head = /^(?:\?(?:P?<\w+>|[imsU-]*:))?/.exec(this.#source.slice(this.#at))?.[0] ?? "";
    if (head === "" && this.#source[this.#at] === "?") throw new Unknown();
    this.#at += head.length;
    const inner = this.#alternatives();
    if (this.#source[this.#at] !== ")") throw new Unknown();
    this.#at++;
    // Captures are not needed, and a name may occur only once.
    const open = head.endsWith(":") ? `(${head}` : "(?:";
    return { source: `${open}${inner.source})`, begun: inner.begun === null ? null : `${open}${inner.begun})` };
  }
}

/**
 * An expression for everything a match of `pattern` can begin with, including whole matches, of at least one
 * character. If no suffix of a text matches it, more text cannot create or change a match. Assertions are left out.
 * Null if the pattern has unknown syntax or matches no character.
 */
export function unfinishedMatch(pattern: string): string | null {
  try {
    return new Reader(pattern).whole().begun;
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}
