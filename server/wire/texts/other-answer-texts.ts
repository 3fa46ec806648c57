import type { ContentsList, Place } from "./answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { hasWords, holdsFile, NO_TEXT_NAMES } from "./other-texts.ts";

/** How a member is used, judged by its name: a combination of these flags. */
/** Not a text unless its value contains words: an ID, bytes, a signature, an address. */
const NO_TEXT_USE = 1;
/** A type or label, always sent whole, never in pieces. */
const LABEL_USE = 2;
/** A name that no protocol would define. */
const FOREIGN = 4;

const words = (text: string) => text.trim().split(/\s+/);

/** In answers, display names count as texts. */
const CALLED = new Set(words("name filename displayName display_name user"));
const NO_TEXT: ReadonlySet<string> = new Set([
  ...NO_TEXT_NAMES.filter((name) => !CALLED.has(name)),
  ...words(`
      system_fingerprint obfuscation created created_at createTime finishReason native_finish_reason modelVersion responseId modality
      fallback_credit_token googleMapsWidgetContextToken continuation_token continuationToken next_page_token nextPageToken
      citations links
    `),
]);
/** Typical suffixes and prefixes of names for vendors' IDs, signatures, digests, bytes and addresses. */
const NO_TEXT_ENDINGS =
  /(?:^|_)(?:ids?|signatures?|fingerprint|hash|sha\d+|digest|etag|checksum|nonce|padding|obfuscation|opaque|b64|base64|blob|bytes|ur[il]s?)$|(?:Ids?|Signatures?|Fingerprint|Hash|Digest|Blob|Bytes|B64|Base64|Ur[il]s?)$|^encrypted|[a-z]Encrypted|_encrypted/;
const LABEL =
  /(?:^|_)(?:name|title|label|type|kind|status|state|phase|stage|reason|role|sender|recipient|author|provider|vendor|channel|mode|level|format|language|lang|locale|version|tier|region|code|stop|date|time|at|key|source|severity|category|probability|effort)$|(?:Name|Title|Label|Type|Kind|Status|State|Phase|Reason|Role|Provider|Channel|Mode|Level|Format|Language|Version|Tier|Region|Code|Date|Time|At|Key|Source|Severity|Category|Probability)$/;
/** Letters and separators, with at most three digits at the end. */
const PLAIN_NAME = /^@?[A-Za-z_$][A-Za-z_$.:-]{0,47}\d{0,3}$/;

/** Looked up for every member of every frame: a plain object is twice as fast as a Map here. */
let uses = Object.create(null) as Record<string, number>;
let usesKnown = 0;
const MAX_KNOWN = 5_000;
const MAX_KNOWN_LENGTH = 64;

function useOf(name: string): number {
  return uses[name] ?? usedFor(name);
}

function usedFor(name: string): number {
  const isKnown = NO_TEXT.has(name);
  const use =
    (isKnown || NO_TEXT_ENDINGS.test(name) ? NO_TEXT_USE : 0) |
    (CALLED.has(name) || LABEL.test(name) ? LABEL_USE : 0) |
    (isKnown || PLAIN_NAME.test(name) ? 0 : FOREIGN);
  if (name.length > MAX_KNOWN_LENGTH) return use;
  // Upstreams must not fill the memory with names of their own.
  if (++usesKnown > MAX_KNOWN) {
    uses = Object.create(null) as Record<string, number>;
    usesKnown = 1;
  }
  uses[name] = use;
  return use;
}

/** The maximum nesting of a frame. */
const MAX_LEVELS = 1024;

/** Whether a text was part of the request. */
export type IsCallersText = (text: string) => boolean;

/**
 * Adds every string of an answer or frame that its format does not know, because vendors add members of their own. In a
 * delta, an unknown member is a piece of a text, like the known ones; elsewhere each string is a text by itself. Members
 * that repeat the request are skipped if they match it.
 */
export function addOtherTexts(body: JsonObject, contents: ContentsList, isCallersText: IsCallersText = () => false): void {
  const { wholes, calls, tokens, bytes } = contents;
  visitObject(body, new Walk(contents, wholes.length + calls.length + tokens.length + bytes.length > 0, isCallersText));
}

/** Optimized for frames without other texts, which are the vast majority. */
class Walk {
  readonly contents: ContentsList;
  /** Whether the format found anything besides text pieces. */
  readonly hasPlaces: boolean;
  readonly isCallersText: IsCallersText;
  /** Whether the current position repeats the request. */
  repeats = false;
  /** Index of the known places, built only for long answers. */
  places: Places | null = null;
  /** The path to the current position. */
  readonly way: (string | number)[] = [];

  constructor(contents: ContentsList, hasPlaces: boolean, isCallersText: IsCallersText) {
    this.contents = contents;
    this.hasPlaces = hasPlaces;
    this.isCallersText = isCallersText;
  }
}

function visitObject(holder: JsonObject, walk: Walk): void {
  const { repeated } = walk.contents;
  const wasRepeat = walk.repeats;
  for (const name in holder) {
    const value = holder[name];
    walk.repeats = wasRepeat || (repeated.length > 0 && isIn(repeated, holder, name));
    const use = useOf(name);
    if (use >= FOREIGN) add(walk, holder, name, "name");
    if (typeof value === "string") {
      if ((use & NO_TEXT_USE) !== 0 && !isWorded(value)) continue;
      if (isRead(walk, holder, name, value)) continue;
      const index = (use & (NO_TEXT_USE | LABEL_USE)) === 0 ? deltaOf(walk, holder) : undefined;
      if (index !== undefined) walk.contents.otherPiece(`${index}.+${name}`, holder, name);
      else if (value !== "") add(walk, holder, name, "text");
    } else if (typeof value === "object" && value !== null && !(walk.hasPlaces && isRead(walk, holder, name)))
      visitBelow(value, name, name, walk);
  }
  walk.repeats = wasRepeat;
}

/** Visits the values of an object or array; array items are judged by the array's name. */
function visitBelow(value: object, key: string | number, name: string, walk: Walk): void {
  const { way } = walk;
  if (way.length >= MAX_LEVELS) {
    walk.contents.tooDeep = true;
    return;
  }
  way.push(key);
  if (!Array.isArray(value)) visitObject(value as JsonObject, walk);
  else
    for (let at = 0; at < value.length; at++) {
      const one: unknown = value[at];
      if (typeof one === "object") {
        if (one !== null && !(walk.hasPlaces && isRead(walk, value, at))) visitBelow(one, at, name, walk);
      } else if (typeof one === "string" && one !== "" && ((useOf(name) & NO_TEXT_USE) === 0 || isWorded(one)))
        if (!isRead(walk, value, at, one)) add(walk, value, at, "text");
    }
  way.pop();
}

function add({ contents, way, repeats, isCallersText }: Walk, holder: object, key: string | number, kind: "text" | "name"): void {
  if (repeats && isCallersText(kind === "name" ? String(key) : ((holder as Record<string | number, string>)[key] as string))) return;
  contents.other({ holder: holder as Record<string | number, unknown>, key, kind, way: `${way.join("\n")}\n${key}` });
}

/** Words are inspected in any member, except inside a file embedded in a URL. */
function isWorded(value: string): boolean {
  return hasWords(value) && !holdsFile(value);
}

/** Up to this number, a linear search is faster than an index. */
const FEW = 8;

/** The channel number of a delta; undefined for any other object. */
function deltaOf(walk: Walk, holder: object): number | undefined {
  const { deltas } = walk.contents;
  if (deltas.length > FEW) return (walk.places ??= new Places(walk.contents)).deltas.get(holder);
  for (const delta of deltas) if (delta.holder === holder) return delta.index;
  return undefined;
}

/** Whether the format already reported this place. Bytes that contain words are inspected nevertheless. */
function isRead(walk: Walk, holder: object, key: string | number, text?: string): boolean {
  const { pieces, wholes, calls, tokens, bytes } = walk.contents;
  if (walk.places === null && pieces.length + wholes.length + calls.length + tokens.length + bytes.length > FEW)
    walk.places = new Places(walk.contents);
  if (walk.places !== null) return walk.places.has(holder, key) || (isBytes(text) && walk.places.hasBytes(holder, key));
  if (isIn(pieces, holder, key)) return true;
  if (!walk.hasPlaces) return false;
  return (
    isIn(wholes, holder, key) ||
    isIn(tokens, holder, key) ||
    (isBytes(text) && isIn(bytes, holder, key)) ||
    calls.some(({ place }) => place !== null && place.holder === holder && place.key === key)
  );
}

const isBytes = (text: string | undefined) => text !== undefined && !hasWords(text);

function isIn(places: readonly Place[], holder: object, key: string | number): boolean {
  for (let at = 0; at < places.length; at++) {
    const place = places[at] as Place;
    if (place.holder === holder && place.key === key) return true;
  }
  return false;
}

class Places {
  readonly deltas: ReadonlyMap<object, number>;
  private readonly keys = new Map<object, Set<string | number>>();
  private readonly bytes = new Map<object, Set<string | number>>();

  constructor({ pieces, wholes, calls, tokens, bytes, deltas }: ContentsList) {
    this.deltas = new Map(deltas.map(({ holder, index }) => [holder, index]));
    for (const places of [pieces, wholes, tokens]) for (const place of places) note(this.keys, place);
    for (const { place } of calls) if (place !== null) note(this.keys, place);
    for (const place of bytes) note(this.bytes, place);
  }

  hasBytes(holder: object, key: string | number): boolean {
    return this.bytes.get(holder)?.has(key) === true;
  }

  has(holder: object, key: string | number): boolean {
    return this.keys.get(holder)?.has(key) === true;
  }
}

function note(keys: Map<object, Set<string | number>>, { holder, key }: Place): void {
  const known = keys.get(holder);
  if (known === undefined) keys.set(holder, new Set([key]));
  else known.add(key);
}
