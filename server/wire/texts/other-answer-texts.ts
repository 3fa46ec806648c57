import type { ContentsList, Place } from "./answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { hasWords, holdsFile, NO_TEXT_NAMES } from "./other-texts.ts";

/** What a member is for, as far as its name tells: a sum of these. */
/** For something else than a text as long as its value has no words: an id, bytes, a signature, an address. */
const NO_TEXT_USE = 1;
/** Says of what kind something is or what it is called: told as a whole, never in pieces. */
const LABEL_USE = 2;
/** Nobody who wrote a protocol gave such a name. */
const FOREIGN = 4;

const words = (text: string) => text.trim().split(/\s+/);

/** What people call something is a text, in an answer. */
const CALLED = new Set(words("name filename displayName display_name user"));
const NO_TEXT: ReadonlySet<string> = new Set([
  ...NO_TEXT_NAMES.filter((name) => !CALLED.has(name)),
  ...words(`
      system_fingerprint obfuscation created created_at createTime finishReason native_finish_reason modelVersion responseId modality
      fallback_credit_token googleMapsWidgetContextToken continuation_token continuationToken next_page_token nextPageToken
      citations links
    `),
]);
/** Ids, seals, digests, bytes and addresses of vendors have names that end or begin so. */
const NO_TEXT_ENDINGS =
  /(?:^|_)(?:ids?|signatures?|fingerprint|hash|sha\d+|digest|etag|checksum|nonce|padding|obfuscation|opaque|b64|base64|blob|bytes|ur[il]s?)$|(?:Ids?|Signatures?|Fingerprint|Hash|Digest|Blob|Bytes|B64|Base64|Ur[il]s?)$|^encrypted|[a-z]Encrypted|_encrypted/;
const LABEL =
  /(?:^|_)(?:name|title|label|type|kind|status|state|phase|stage|reason|role|sender|recipient|author|provider|vendor|channel|mode|level|format|language|lang|locale|version|tier|region|code|stop|date|time|at|key|source|severity|category|probability|effort)$|(?:Name|Title|Label|Type|Kind|Status|State|Phase|Reason|Role|Provider|Channel|Mode|Level|Format|Language|Version|Tier|Region|Code|Date|Time|At|Key|Source|Severity|Category|Probability)$/;
/** Letters with what joins words, and few digits behind them. */
const PLAIN_NAME = /^@?[A-Za-z_$][A-Za-z_$.:-]{0,47}\d{0,3}$/;

/** Looked up for every member of every frame: an object is twice as quick at it as a map. */
let uses = Object.create(null) as Record<string, number>;
let usesKnown = 0;
const MAX_KNOWN = 5_000;
const LONGEST_KNOWN = 64;

function useOf(name: string): number {
  return uses[name] ?? usedFor(name);
}

function usedFor(name: string): number {
  const isKnown = NO_TEXT.has(name);
  const use =
    (isKnown || NO_TEXT_ENDINGS.test(name) ? NO_TEXT_USE : 0) |
    (CALLED.has(name) || LABEL.test(name) ? LABEL_USE : 0) |
    (isKnown || PLAIN_NAME.test(name) ? 0 : FOREIGN);
  if (name.length > LONGEST_KNOWN) return use;
  // Whoever sends names of their own must not fill the memory.
  if (++usesKnown > MAX_KNOWN) {
    uses = Object.create(null) as Record<string, number>;
    usesKnown = 1;
  }
  uses[name] = use;
  return use;
}

/** As deep as a frame may go. */
const MAX_LEVELS = 1024;

/** Whether the request said a text. */
export type AskedText = (text: string) => boolean;

/**
 * Adds to what a format knows of the texts of an answer, or of a frame, every other string in it, whatever member it stands in:
 * vendors put into answers what they like. What a delta says in a member of its own is a piece of a text, as what the format
 * knows of it is; all else is looked at where it stands. What repeats the request is the caller's own, as far as that said it.
 */
export function addOtherTexts(body: JsonObject, contents: ContentsList, asked: AskedText = () => false): void {
  const { wholes, calls, tokens, bytes } = contents;
  visitObject(body, new Walk(contents, wholes.length + calls.length + tokens.length + bytes.length > 0, asked));
}

/** Most frames have nothing else, and are told so at the least cost. */
class Walk {
  readonly contents: ContentsList;
  /** Whether the format told of more than pieces of texts. */
  readonly hasPlaces: boolean;
  readonly asked: AskedText;
  /** Whether what is visited repeats the request. */
  repeats = false;
  /** Of a long answer: what the format told of. */
  places: Places | null = null;
  /** The members on the way to what is visited. */
  readonly way: (string | number)[] = [];

  constructor(contents: ContentsList, hasPlaces: boolean, asked: AskedText) {
    this.contents = contents;
    this.hasPlaces = hasPlaces;
    this.asked = asked;
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

/** What stands in an object or a list; what is in a list is called as the list is. */
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

function add({ contents, way, repeats, asked }: Walk, holder: object, key: string | number, kind: "text" | "name"): void {
  if (repeats && asked(kind === "name" ? String(key) : ((holder as Record<string | number, string>)[key] as string))) return;
  contents.other({ holder: holder as Record<string | number, unknown>, key, kind, way: `${way.join("\n")}\n${key}` });
}

/** Words are looked at in whatever member, but for those of a file that stands in its address. */
function isWorded(value: string): boolean {
  return hasWords(value) && !holdsFile(value);
}

/** So many are found faster one by one. */
const FEW = 8;

/** What the channels of a delta begin with; undefined of any other object. */
function deltaOf(walk: Walk, holder: object): number | undefined {
  const { deltas } = walk.contents;
  if (deltas.length > FEW) return (walk.places ??= new Places(walk.contents)).deltas.get(holder);
  for (const delta of deltas) if (delta.holder === holder) return delta.index;
  return undefined;
}

/** Whether the format told of what stands there; of bytes with words in them it told in vain. */
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
