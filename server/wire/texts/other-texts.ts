import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/**
 * Members that are not text in any object of the formats: types, IDs, addresses and bytes. Files in them are inspected
 * where they are decoded, and names separately.
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
/** The same for members that may hold a URL with an embedded file. */
const ADDRESSES = words("url image_url file_url video_url audio_url uri fileUri file_uri file_data data b64_json");
const FILE_WITHIN = /^\s*data:/i;
/** All such members: a value without spaces is not a text. */
export const NO_TEXT_NAMES: readonly string[] = ["name", ...NO_TEXT, ...ADDRESSES];
/** Members that define the form of the answer, which cannot be reworded. */
const SHAPES = words(`
  guided_json guided_regex guided_grammar guided_choice guided_decoding structured_outputs structural_tag grammar regex ebnf
  json_schema format
`);
/** Names of the form used by protocols. */
const PLAIN_NAME = /^[\w.$:-]{1,64}$/;
export const isProtocolName = (name: string): boolean => PLAIN_NAME.test(name);

type Kind = "text" | "fixed_text" | "fixed_name";
/** The text is `holder[key]`, or for a `fixed_name` the key itself. */
export type OtherVisitor = (holder: Record<string | number, unknown>, key: string | number, kind: Kind) => void;

/** ASCII line breaks. */
const LINE_ENDS = ["\n", "\r", "\f", "\v"];
const LINE_END = /[\n\r\f\v]+/;
/** Base64 split into lines has longer ones, and words rarely have as many letters. */
const LONG_LINE = 32;

const hasShortLines = (value: string): boolean =>
  value
    .trim()
    .split(LINE_END)
    .slice(0, -1)
    .some((line) => line.length < LONG_LINE);

/**
 * Human text has spaces between words, or short lines, or non-ASCII letters in scripts without spaces; keywords, IDs,
 * addresses and base64 have none of these.
 */
export function hasWords(value: string): boolean {
  return (
    (value.includes(" ") && value.trim().includes(" ")) ||
    (value.includes("\t") && value.trim().includes("\t")) ||
    (LINE_ENDS.some((end) => value.includes(end)) && hasShortLines(value)) ||
    // Checks an image of megabytes in a tenth of the time of a regular expression.
    Buffer.byteLength(value) !== value.length
  );
}

/** Whether a member is a document's plain text. */
export function isDocumentText(holder: { readonly type?: unknown }, name: string): boolean {
  return name === "data" && holder.type === "text";
}

/** Whether the URL embeds a file. */
export function holdsFile(value: string): boolean {
  return FILE_WITHIN.test(value);
}

/** Whether the formats use this member for something other than text. */
export function isNoText(name: string, value: string): boolean {
  if (name === "name") return true;
  if (ADDRESSES.has(name)) return !hasWords(value) || holdsFile(value);
  return NO_TEXT.has(name) && !hasWords(value);
}

/** Visits the strings below a protocol object that the protocol does not know. `except` names members that are inspected separately. */
export function visitOthers(object: object, except: ReadonlySet<string> | null, visit: OtherVisitor): void {
  for (const name in object) if (except?.has(name) !== true) visitOther(object, name, name, visit);
}

/** As `visitOthers`, for a single member. */
export function visitOther(holder: object, key: string | number, name: string, visit: OtherVisitor): void {
  const places = holder as Record<string | number, unknown>;
  const value = places[key];
  if (typeof value === "string") {
    if (value !== "" && (!isNoText(name, value) || isDocumentText(holder, name))) visit(places, key, "text");
  } else if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) visitOther(value, at, name, visit);
  } else if (typeof value === "object" && value !== null) {
    // Free-form input of a tool.
    if (name === "input" || name === "env") visitData(places, key, visit);
    else visitOthers(value, null, visit);
  }
}

/** Visits every string below `holder[key]`, and the names that no protocol would define. */
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

/** What a format knows about the members of a body. */
export interface KnownMembers {
  /** Members that are inspected separately or used by the gateway only; of a `plain` one, only values other than strings. */
  readonly read: ReadonlySet<string>;
  /** Members that are not text. */
  readonly plain: ReadonlySet<string>;
  /** Members whose own members are defined by the format; all others have free-form keys. */
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
 * Every text of a body that its format does not know, because servers may show any of it to a model. `touch` is called
 * with the name of the member in which a replacement was made.
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

/** Definitions of an answer's form other than schemas: grammars, patterns. */
export function shapeTexts(format: JsonValue | undefined, except: ReadonlySet<string>, touch: () => void): TextSlot[] {
  const slots: TextSlot[] = [];
  if (!isObject(format)) return slots;
  const visit = otherSlots(slots, "user", touch);
  for (const name in format) if (!except.has(name)) visitData(format, name, visit, "fixed_text");
  return slots;
}

/** A visitor that appends a slot to `slots` for each text. */
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
