import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * Members that formats have for something else than a text, in whichever object: of what kind something is, what it is known by,
 * where it is and in which bytes. Files among them are looked into where they are read, and names by themselves.
 */
const NO_TEXT = words(`
  type role id object status phase index model model_id user voice format detail quality size background language outcome encoding
  media_type mimeType mime_type output_format encoding_format response_format service_tier serviceTier reasoning_effort verbosity
  truncation tool_choice speed inference_geo mode mediaResolution media_resolution
  call_id tool_call_id tool_use_id item_id response_id message_id request_id approval_request_id file_id file_ids container_id
  container caller_id user_id skill_id vector_store_id vector_store_ids environment_id previous_response_id previous_message_id
  conversation server_label connector_id cachedContent cached_content safety_identifier prompt_cache_key prompt_cache_retention
  uuid sha256 fingerprint chat_id
  filename displayName display_name
  category threshold responseMimeType response_mime_type
  signature thought_signature thought_signatures thoughtSignature encrypted_content encrypted_index encrypted_stdout authorization_token
  cache_control ttl finish_reason stop_reason
`);
/** The same, where it may be an address that holds a file within itself. */
const ADDRESSES = words("url image_url file_url video_url audio_url uri fileUri file_uri file_data data b64_json");
const FILE_WITHIN = /^\s*data:/i;
/** All of them: where a value has no space, it is no text. */
export const NO_TEXT_NAMES: readonly string[] = ["name", ...NO_TEXT, ...ADDRESSES];
/** Members that only the shape of an answer is told by: with other words it would be another. */
const SHAPES = words(`
  guided_json guided_regex guided_grammar guided_choice guided_decoding structured_outputs structural_tag grammar regex ebnf
  json_schema format
`);
/** Names that whoever wrote the protocol may have given. */
const PLAIN_NAME = /^[\w.$:-]{1,64}$/;
export const isProtocolName = (name: string): boolean => PLAIN_NAME.test(name);

type Kind = "text" | "fixed_text" | "fixed_name";
/** `holder[key]` is the text; of a `fixed_name` it is the key itself. */
export type OtherVisitor = (holder: Record<string | number, unknown>, key: string | number, kind: Kind) => void;

/** What breaks lines of ASCII. */
const LINE_ENDS = ["\n", "\r", "\f", "\v"];
const LINE_END = /[\n\r\f\v]+/;
/** Base64 that is broken into lines has longer ones, and words seldom have as many letters. */
const LONG_LINE = 32;

const hasShortLines = (value: string): boolean =>
  value
    .trim()
    .split(LINE_END)
    .slice(0, -1)
    .some((line) => line.length < LONG_LINE);

/**
 * What people write has spaces between its words, or each on a line of its own, or, where a script has none, letters beyond ASCII: no
 * kind, id, address or base64 has any of these.
 */
export function hasWords(value: string): boolean {
  return (
    (value.includes(" ") && value.trim().includes(" ")) ||
    (value.includes("\t") && value.trim().includes("\t")) ||
    (LINE_ENDS.some((end) => value.includes(end)) && hasShortLines(value)) ||
    // Tells of a picture's megabytes in a tenth of the time that a search for such a letter takes.
    Buffer.byteLength(value) !== value.length
  );
}

/** Whether a member is the text of a document that stands in a part as it is. */
export function isDocumentText(holder: { readonly type?: unknown }, name: string): boolean {
  return name === "data" && holder.type === "text";
}

/** Whether the value of an address is a file itself. */
export function holdsFile(value: string): boolean {
  return FILE_WITHIN.test(value);
}

/** Whether a format has this member for something else. */
export function isNoText(name: string, value: string): boolean {
  if (name === "name") return true;
  if (ADDRESSES.has(name)) return !hasWords(value) || holdsFile(value);
  return NO_TEXT.has(name) && !hasWords(value);
}

/** Visits the strings below an object of a protocol that are nothing the protocol knows; `except`: members that are read by themselves. */
export function visitOthers(object: object, except: ReadonlySet<string> | null, visit: OtherVisitor): void {
  for (const name in object) if (except?.has(name) !== true) visitOther(object, name, name, visit);
}

/** The same below one member of it. */
export function visitOther(holder: object, key: string | number, name: string, visit: OtherVisitor): void {
  const places = holder as Record<string | number, unknown>;
  const value = places[key];
  if (typeof value === "string") {
    if (value !== "" && (!isNoText(name, value) || isDocumentText(holder, name))) visit(places, key, "text");
  } else if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) visitOther(value, at, name, visit);
  } else if (typeof value === "object" && value !== null) {
    // A tool's own words for what it is told.
    if (name === "input" || name === "env") visitData(places, key, visit);
    else visitOthers(value, null, visit);
  }
}

/** Visits every string below `holder[key]` whatever it is called, and the names that only whoever asks can have given. */
export function visitData(holder: object, key: string | number, visit: OtherVisitor, kind: Kind = "text"): void {
  const places = holder as Record<string | number, unknown>;
  const value = places[key];
  if (typeof value === "string") {
    if (value !== "") visit(places, key, kind);
  } else if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) visitData(value, at, visit, kind);
  } else if (typeof value === "object" && value !== null) {
    for (const name in value) {
      if (!PLAIN_NAME.test(name)) visit(value as Record<string, unknown>, name, "fixed_name");
      visitData(value, name, visit, kind);
    }
  }
}

/** What a format knows of the members of a body. */
export interface KnownMembers {
  /** Those that are looked at by themselves, and those that only the gateway reads; of a `plain` one what is no string. */
  readonly read: ReadonlySet<string>;
  /** Those that are no text. */
  readonly plain: ReadonlySet<string>;
  /** Those whose own members are the format's too; those of all others are named by whoever asks. */
  readonly protocol: ReadonlySet<string>;
}

export function knownMembers({
  read,
  plain = "",
  protocol = "",
}: {
  readonly read: string;
  readonly plain?: string;
  readonly protocol?: string;
}): KnownMembers {
  return { read: words(`model model_id ${read}`), plain: words(plain), protocol: words(protocol) };
}

/**
 * Every text of a body that its format does not know: servers give models what they like of it to read. `touch` is told the
 * member a replacement stands in.
 */
export function otherTexts(body: JsonObject, { read, plain, protocol }: KnownMembers, touch: (member: string) => void): TextSlot[] {
  const slots: TextSlot[] = [];
  for (const member in body) {
    const value = body[member];
    if (read.has(member) && !(typeof value === "string" && plain.has(member))) continue;
    const isPlain = PLAIN_NAME.test(member);
    if (isPlain && (value === null || (typeof value !== "string" && typeof value !== "object"))) continue;
    const visit = otherSlots(slots, member === "system" ? "system" : "user", () => touch(member));
    if (!isPlain) visit(body, member, "fixed_name");
    if (SHAPES.has(member)) visitData(body, member, visit, "fixed_text");
    else if (typeof value === "string" && plain.has(member) && !hasWords(value)) continue;
    else if (typeof value === "object" && protocol.has(member)) visitOther(body, member, member, visit);
    else visitData(body, member, visit);
  }
  return slots;
}

/** What else than a schema says of which shape an answer is to be: a grammar, a pattern. */
export function shapeTexts(format: JsonValue | undefined, except: ReadonlySet<string>, touch: () => void): TextSlot[] {
  const slots: TextSlot[] = [];
  if (!isObject(format)) return slots;
  const visit = otherSlots(slots, "user", touch);
  for (const name in format) if (!except.has(name)) visitData(format, name, visit, "fixed_text");
  return slots;
}

/** Puts a slot for each text that is visited behind `slots`. */
export function otherSlots(slots: TextSlot[], role: TextSlot["role"], touch: () => void): OtherVisitor {
  return (holder, key, kind) => slots.push(new OtherText(role, kind, holder, key, touch));
}

class OtherText implements TextSlot {
  readonly role: TextSlot["role"];
  readonly kind: Kind;
  private readonly holder: Record<string | number, unknown>;
  private readonly key: string | number;
  private readonly changed: () => void;

  constructor(role: TextSlot["role"], kind: Kind, holder: Record<string | number, unknown>, key: string | number, changed: () => void) {
    this.role = role;
    this.kind = kind;
    this.holder = holder;
    this.key = key;
    this.changed = changed;
  }

  get text(): string {
    return this.kind === "fixed_name" ? String(this.key) : (this.holder[this.key] as string);
  }

  replace(text: string): void {
    if (this.kind === "fixed_name") return;
    this.holder[this.key] = text;
    this.changed();
  }
}
