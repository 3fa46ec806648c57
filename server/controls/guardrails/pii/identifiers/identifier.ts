import { contextWords } from "../number-context.ts";

/** An identifier that people or organisations are given, as a detector recognises it. */
export interface Identifier {
  /** How many letters come first, and how many digits follow them; either may be a list of possibilities. */
  readonly begins: readonly (readonly [letters: number, digits: number])[];
  /** Sticky; at most 40 characters. */
  readonly shape: RegExp;
  /** Whether the value, in capitals and without separators, can be one; `written`: as it is in the text. */
  readonly isValid: (value: string, written: string) => boolean;
  /** The confidence without words nearby that name it. */
  readonly alone: number | ((written: string) => number);
  readonly words: ReturnType<typeof contextWords>;
  /** The same in identifiers of programs. */
  readonly names?: ReturnType<typeof contextWords>;
}

/** Words in any case, as parts of longer words, too. */
export function named(source: string, ...abbreviations: readonly string[]): Pick<Identifier, "words" | "names"> {
  const short = abbreviations.map((one) => String.raw`(?<![\p{L}\p{N}])${one}(?![\p{L}\p{N}])`);
  const words = contextWords(new RegExp([...(source === "" ? [] : [source]), ...short].join("|"), "iuy"));
  if (abbreviations.length === 0) return { words };
  const capital = (one: string) => one.charAt(0).toUpperCase() + one.slice(1);
  const inNames = abbreviations.flatMap((one) => [
    `(?<=[a-z0-9])(?:${capital(one)}|${one.toUpperCase()})(?![a-z])`,
    `(?<![A-Za-z])${one}(?=[A-Z])`,
  ]);
  return { words, names: contextWords(new RegExp(inNames.join("|"), "y")) };
}

/** All pairs of these numbers. */
export function beginning(letters: readonly number[], digits: readonly number[]): Identifier["begins"] {
  return letters.flatMap((some) => digits.map((others) => [some, others] as const));
}
