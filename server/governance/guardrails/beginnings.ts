const SPACE = 32;
const SLOTS_BITS = 17;

/** Goes on: more letters decide. */
const PREFIX = 1;
const WHOLE = 2;

/** In lower case, white space as a space: what the first letters of phrases are compared by. */
const PLAIN = Uint16Array.from({ length: 65_536 }, (_, code) => {
  if (code < SPACE) return SPACE;
  return String.fromCharCode(code).toLowerCase().charCodeAt(0);
});

/** The character as the beginnings of phrases are compared by: lower case, control characters as a space. */
export function plain(code: number): number {
  return PLAIN[code] ?? SPACE;
}

function mixed(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x9e3779b1);
}

/**
 * A set of beginnings that costs one look-up for each character it is asked about and no allocation: a table of the
 * first characters, and one of the hashes of all that is longer. Two hashes may meet, so that now and then it says yes
 * where no beginning stands; it never says no where one does.
 */
export class Beginnings {
  readonly #first = new Uint8Array(65_536);
  readonly #longer = new Uint8Array(1 << SLOTS_BITS);

  constructor(beginnings: Iterable<string>) {
    const first = new Uint8Array(65_536);
    for (const text of beginnings) {
      const code = plain(text.charCodeAt(0));
      first[code] = (first[code] ?? 0) | (text.length === 1 ? WHOLE : PREFIX);
      let hash = code;
      for (let i = 1; i < text.length; i++) {
        hash = mixed(hash, plain(text.charCodeAt(i)));
        const slot = hash >>> (32 - SLOTS_BITS);
        this.#longer[slot] = (this.#longer[slot] ?? 0) | (i === text.length - 1 ? WHOLE : PREFIX);
      }
    }
    for (let code = 0; code < first.length; code++) this.#first[code] = first[plain(code)] ?? 0;
  }

  /** Whether one of them may stand at `at`, or the text ends before that is known. */
  mayStandAt(text: string, at: number): boolean {
    const code = text.charCodeAt(at);
    let state = this.#first[code] ?? 0;
    if (state !== PREFIX) return state !== 0;
    const { length } = text;
    const longer = this.#longer;
    let hash = PLAIN[code] ?? 0;
    for (let next = at + 1; state === PREFIX; next++) {
      if (next >= length) return true;
      hash = mixed(hash, PLAIN[text.charCodeAt(next)] ?? 0);
      state = longer[hash >>> (32 - SLOTS_BITS)] ?? 0;
    }
    return state !== 0;
  }
}
