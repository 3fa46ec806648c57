const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;

/**
 * The canonical spelling of a JSON number that JavaScript would round; null for one it reads exactly. `source` is the number's text,
 * `value` what was read.
 */
function inexactNumber(source: string, value: number): string | null {
  const written = normal(source);
  return written === normal(String(value)) ? null : written;
}

/** One text for all spellings of a decimal. Absurdly large exponents are left as spelled. */
function normal(source: string): string {
  const match = NUMBER.exec(source);
  if (match === null) return source;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  // A loop, because a regular expression would restart at every zero.
  let length = digits.length;
  while (digits.charAt(length - 1) === "0") length--;
  const kept = digits.slice(0, length);
  return kept === "" ? `${sign}0` : `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

type Reviver = Parameters<typeof JSON.parse>[1];

/** Like `JSON.parse`, but numbers that would be rounded become what `replace` returns for their source text. */
export function parsedExactly(json: string, replace: (source: string, written: string) => unknown): unknown {
  const revive = (_name: string, value: unknown, { source = "" }: { readonly source?: string } = {}): unknown => {
    const written = typeof value === "number" ? inexactNumber(source, value) : null;
    return written === null ? value : replace(source, written);
  };
  return JSON.parse(json, revive as Reviver);
}

/** A value that `JSON.stringify` writes as this very text. */
export const rawJson = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

export const isRawJson = (value: unknown): boolean => (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);

/** Parses JSON so that writing it again keeps every digit of its numbers. */
export function exactValue(json: string): unknown {
  return MAYBE_INEXACT.test(json) ? parsedExactly(json, rawJson) : JSON.parse(json);
}

/** Like `exactValue`; undefined if no number of the text is rounded. */
export function exactReading(json: string): unknown {
  return MAYBE_INEXACT.test(json) ? parsedExactly(json, rawJson) : undefined;
}

/** The numbers that `JSON.parse` rounds in a text, as rounded. */
export function roundedNumbers(json: string): readonly number[] {
  const rounded: number[] = [];
  if (!MAYBE_INEXACT.test(json)) return rounded;
  parsedExactly(json, (source, written) => {
    if (written !== "-0") rounded.push(Number(source));
  });
  return rounded;
}

/**
 * `value`, which was read from `json`, with the named members replaced by their exact reading. Only for members that are forwarded as JSON
 * and not inspected, because an exact number is not a JavaScript number.
 */
export function exactMembers<T>(value: T, json: string, names: ReadonlySet<string>): T {
  return MAYBE_INEXACT.test(json) ? (withExact(value, exactValue(json), names) as T) : value;
}

function withExact(value: unknown, exact: unknown, names: ReadonlySet<string>): unknown {
  if (typeof value !== "object" || value === null || typeof exact !== "object" || exact === null) return value;
  const members = exact as Record<string, unknown>;
  if (Array.isArray(value)) return value.map((item, index) => withExact(item, members[index], names));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      names.has(name) && typeof member === "object" && Object.hasOwn(members, name)
        ? members[name]
        : withExact(member, members[name], names),
    ]),
  );
}

/** JSON of a value that was read from `source` and then changed: numbers that are still in their place keep their digits. */
export function exactlyWritten(value: unknown, source: string): string {
  if (!MAYBE_INEXACT.test(source)) return JSON.stringify(value);
  return JSON.stringify(
    withDigits(
      value,
      parsedExactly(source, (digits) => new Digits(digits)),
    ),
  );
}

/**
 * Returns a writer for values built from objects and arrays of `whole`, which was read from `source`: their numbers keep their digits
 * wherever they are now. Everything else is written as usual.
 */
export function exactWriter(whole: unknown, source: string): (value: unknown) => string {
  if (!MAYBE_INEXACT.test(source)) return JSON.stringify;
  const read = new Map<unknown, unknown>();
  const pair = (value: unknown, exact: unknown): void => {
    if (typeof value !== "object" || value === null || typeof exact !== "object" || exact === null) return;
    read.set(value, exact);
    for (const [name, member] of Object.entries(value)) pair(member, (exact as Record<string, unknown>)[name]);
  };
  pair(
    whole,
    parsedExactly(source, (digits) => new Digits(digits)),
  );
  return (value) => JSON.stringify(withDigits(value, undefined, read));
}

const MAYBE_INEXACT = /\d[\d.]{15}|\d[eE]|-0/;

class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** `read`: what was originally in the value's place. `known`: the originals of objects and arrays that may have moved. */
function withDigits(value: unknown, read: unknown, known?: ReadonlyMap<unknown, unknown>): unknown {
  if (read instanceof Digits) return value === Number(read.text) ? rawJson(read.text) : value;
  if (typeof value !== "object" || value === null) return value;
  const found = known?.get(value) ?? read;
  const isRead = typeof found === "object" && found !== null;
  if (!isRead && known === undefined) return value;
  const before = (isRead ? found : {}) as Record<string, unknown>;
  const inside = (member: unknown, name: string | number) =>
    withDigits(member, Object.hasOwn(before, name) ? before[name] : undefined, known);
  if (Array.isArray(value)) return value.map(inside);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inside(member, name)]));
}
