import type { WriteInstead } from "../answers/write-instead.ts";
import { placeholderForm } from "./placeholder-form.ts";

/** Escaped once as JSON, and once more as JSON text within JSON. */
const NESTED = [0, 1, 2];
/** A shorter end of a cut text could be the beginning of anything. */
const LEAST_BEGUN = 3;
/** Further values of a call keep the usual placeholders: whatever is kept of the answer is searched for each of them. */
const MOST = 500;
/** A longer value keeps the usual placeholder: an answer that repeats a short one would grow without measure. */
const MAX_VALUE_LENGTH = 256;
/** Most characters that are put back in one call. */
const MAX_RESTORED = 16_000_000;
/** No shorter text was cut. */
const CUT_FROM = 16 * 1024;

/**
 * The placeholders that one call was given for values of its request, such as `[EMAIL_1]`. They are kept in memory until the
 * call has ended. The same value has the same placeholder, and none is one that the caller wrote herself.
 */
export class GivenPlaceholders {
  readonly #byValue = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #next = new Map<string, number>();
  readonly #taken = new Set<string>();
  readonly #first: number;
  #room = MAX_RESTORED;
  #hiding: readonly (readonly [written: string, placeholder: string])[] | null = null;

  /** `first`: the number to count from. */
  constructor(first = 1) {
    this.#first = first;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Notes the placeholders that a text of the request already has, so that they are not given to values. */
  noteOwn(text: string): void {
    if (text.includes("[")) for (const [own] of text.matchAll(placeholderForm())) this.#taken.add(own);
  }

  /** Writes a placeholder for a value that may be put back. */
  readonly give: WriteInstead = (value, category, rules) =>
    rules.every(({ restores }) => restores === true) ? (this.#byValue.get(value) ?? this.#placeholderFor(value, category)) : null;

  /** Writes the value of a placeholder that was given, and leaves any other as it is. */
  readonly restore: WriteInstead = (placeholder) => {
    const value = this.#values.get(placeholder);
    if (value === undefined || value.length > this.#room) return placeholder;
    this.#room -= value.length;
    return value;
  };

  /** The text with placeholders in place of the values, for whatever is kept of the answer. */
  readonly hide = (text: string): string => {
    let out = text;
    const mayBeCut = text.length >= CUT_FROM;
    for (const [written, placeholder] of this.#hidings()) {
      out = out.replaceAll(written, placeholder);
      // The end of a text that was cut may hold part of a value.
      for (let length = mayBeCut ? written.length - 1 : 0; length >= LEAST_BEGUN; length--)
        if (out.endsWith(written.slice(0, length))) {
          out = out.slice(0, -length);
          break;
        }
    }
    return out;
  };

  #placeholderFor(value: string, category: string): string | null {
    if (this.#values.size >= MOST || value.length > MAX_VALUE_LENGTH) return null;
    let number = this.#next.get(category) ?? this.#first;
    const name = category.toUpperCase();
    while (this.#taken.has(`[${name}_${number}]`)) number++;
    const placeholder = `[${name}_${number}]`;
    this.#next.set(category, number + 1);
    this.#byValue.set(value, placeholder);
    // What an engine finds may hold the placeholder of what another check found before.
    this.#values.set(
      placeholder,
      value.replaceAll(placeholderForm(), (own) => this.#values.get(own) ?? own),
    );
    this.#hiding = null;
    return placeholder;
  }

  /** Every way in which a value may have been written into an answer; longest first, because one value may contain another. */
  #hidings(): readonly (readonly [string, string])[] {
    return (this.#hiding ??= [...this.#values]
      .flatMap(([placeholder, value]) => {
        const forms = new Set<string>();
        let written = value;
        for (const _ of NESTED) {
          forms.add(written);
          written = JSON.stringify(written).slice(1, -1);
        }
        return [...forms].map((form) => [form, placeholder] as const);
      })
      .toSorted(([a], [b]) => b.length - a.length));
  }
}
