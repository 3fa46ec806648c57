import { LastTextCache } from "../text/last-text-cache.ts";

const registered = new Set<string>();
let signs = /(?!)/g;
let hasSign = new LastTextCache(hasAnySign);

function hasAnySign(text: string, from: number): boolean {
  signs.lastIndex = from;
  return signs.test(text);
}

/**
 * Registers texts one of which every token of an issuer contains. The returned function tells whether a text may contain such a token at or
 * after an offset: false if it contains no sign of any issuer. That is searched only once for all issuers, whose detectors scan the same
 * text one after the other.
 */
export function tokenSigns(...given: readonly string[]): (text: string, from: number) => boolean {
  for (const sign of given) registered.add(sign);
  signs = new RegExp([...registered].map((sign) => RegExp.escape(sign)).join("|"), "g");
  hasSign = new LastTextCache(hasAnySign);
  return (text, from) => hasSign.of(text, from) && given.some((sign) => text.includes(sign, from));
}
