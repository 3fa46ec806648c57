import { PrefixSets } from "../patterns/prefix-sets.ts";
import { isDigitAt } from "../text/characters.ts";
import { patternPrefixes } from "../patterns/pattern-prefixes.ts";

/** How many characters before a number a word still qualifies it. */
const REACH = 40;

/** Words that show that a number is not personal data. */
const OTHER_NUMBER = new RegExp(
  String.raw`\b(?:order|invoice|tracking|reference|ref|ticket|case|serial|imei|isbn|issn|ean|upc|gtin|sku|part|item|model|` +
    String.raw`product|batch|lot|version|build|revision|commit|uuid|guid|id|ids|request|trace|session|transaction|txn|receipt|` +
    String.raw`booking|confirmation|shipment|parcel|po|port|pid|timestamp|epoch|offset|bytes|checksum|hash|bestell\w*|` +
    String.raw`rechnung\w*|auftrag\w*|sendung\w*|artikel\w*|kunden\w*|vorgang\w*|commande|facture|colis|dossier|article|` +
    String.raw`pedido|factura|fatura|encomenda|seguimiento|rastreio|referencia|refer\u00eancia|ordine|fattura|spedizione|` +
    String.raw`articolo|bestelling|bestelnummer|factuur|pakket|artikelnummer|zam\u00f3wieni\w*|faktur\w*|przesy\u0142k\w*|` +
    String.raw`ordrenummer|ordernummer|tilaus\w*|sipari\u015f\w*|kargo)\b|\u0437\u0430\u043a\u0430\u0437|` +
    String.raw`\u0441\u0447[\u0435\u0451]\u0442|\u043f\u043e\u0441\u044b\u043b\u043a|` +
    String.raw`\u0430\u0440\u0442\u0438\u043a\u0443\u043b|\u6ce8\u6587|\u8a02\u55ae|\u8ba2\u5355|\u5355\u53f7|\u7f16\u53f7|` +
    String.raw`\u8ffd\u8de1|\u8acb\u6c42|\uc8fc\ubb38|\uc1a1\uc7a5|\u0911\u0930\u094d\u0921\u0930|\u0637\u0644\u0628|` +
    String.raw`\u0641\u0627\u062a\u0648\u0631\u0629`,
  "iuy",
);

/** Words near a number: a regular expression, and their prefixes, by which most text is skipped. */
interface ContextWords {
  readonly pattern: RegExp;
  readonly beginnings: PrefixSets;
}

/** The words matched by `pattern`, which must be sticky and match at least one character. */
export function contextWords(pattern: RegExp): ContextWords {
  let beginnings: PrefixSets | undefined;
  return {
    pattern,
    // Computed on first use, because it takes noticeable time at startup.
    get beginnings() {
      return (beginnings ??= new PrefixSets(patternPrefixes(pattern.source)));
    },
  };
}

const OTHER_NUMBER_WORDS = contextWords(OTHER_NUMBER);

/** The same words as parts of identifiers in code and tables (`order_id`, `orderNumber`, `customerOrderId`). */
const OTHER_NAMES = contextWords(
  /(?:(?<![A-Za-z])(?:order|invoice|tracking|reference|ref|ticket|case|serial|isbn|sku|part|item|product|batch|session|transaction|txn|request|trace|receipt|booking|shipment|parcel|commit|build|timestamp)(?=_|[A-Z]|-(?:id|no|num))|(?<=[a-z_])(?:Order|Invoice|Tracking|Reference|Ticket|Case|Serial|Sku|SKU|Item|Product|Batch|Session|Transaction|Request|Trace|Receipt|Booking|Shipment|Parcel|Timestamp)(?![a-z])|(?<=_)(?:order|invoice|tracking|reference|ticket|serial|sku|session|transaction|request|trace|receipt|booking|timestamp)(?![a-z])|(?<![A-Za-z])(?:ORDER|INVOICE|TRACKING|REFERENCE|TICKET|SERIAL|SESSION|TRANSACTION|REQUEST|TRACE|BOOKING)(?=_))/y,
);
/** A word that only says that a number identifies something. */
const IDENTIFIER = /(?<![\p{L}\p{N}])ids?(?![\p{L}\p{N}])$/iu;

/** End of the last of `words` within [from, to), relative to `from`; -1 if there is none. */
function lastEnd(text: string, from: number, to: number, { pattern, beginnings }: ContextWords): number {
  let context: string | null = null;
  let end = -1;
  for (let at = from; at < to;) {
    if (beginnings.stateAt(text, at) !== 0) {
      context ??= text.slice(from, to);
      pattern.lastIndex = at - from;
      if (pattern.test(context)) {
        end = pattern.lastIndex;
        at = from + end;
        continue;
      }
    }
    at++;
  }
  return end;
}

/** Whether any of `words` precedes the number at `at`. */
export function hasWordBefore(text: string, at: number, words: ContextWords): boolean {
  return lastEnd(text, Math.max(0, at - REACH), at, words) >= 0;
}

/**
 * What the words before the number at `at` say about it: that it is of the kind, something else, or nothing. The nearest
 * word wins. `names`: words for the kind within identifiers. `mayBeId`: the word "id" does not make it something else.
 */
export function contextBefore(
  text: string,
  at: number,
  kind: ContextWords,
  { names, mayBeId = false }: { readonly names?: ContextWords; readonly mayBeId?: boolean } = {},
): "kind" | "other" | "none" {
  const from = Math.max(0, at - REACH);
  const is = Math.max(lastEnd(text, from, at, kind), names === undefined ? -1 : lastEnd(text, from, at, names));
  // No word can be nearer than one that ends at the number.
  let isOther = is === at ? -1 : Math.max(lastEnd(text, from, at, OTHER_NUMBER_WORDS), lastEnd(text, from, at, OTHER_NAMES));
  while (mayBeId && isOther > 0 && IDENTIFIER.test(text.slice(Math.max(0, isOther - 4), isOther)))
    isOther = lastEnd(text, from, isOther - 2, OTHER_NUMBER_WORDS);
  if (is < 0 && isOther < 0) return "none";
  return is >= isOther ? "kind" : "other";
}

/** Whether the digit at `at` continues a longer number or code to its left: `3.14`, `12-34`, `ORD-12`, `1 234`. */
export function continuesBefore(text: string, at: number, joints: string): boolean {
  return at >= 2 && joints.includes(text.charAt(at - 1)) && isDigitAt(text, at - 2);
}
