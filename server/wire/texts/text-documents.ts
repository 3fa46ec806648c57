import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { REQUEST_LEVELS } from "../json/nesting.ts";
import { base64Readers, isReadAsText, type ReadFile } from "./text-file.ts";

const DATA_URL = /^\s*data:([^;,]*)((?:;[^;,]*)*?)(; *base64 *)?,/i;
/** Members of OpenAI's formats that carry a file, as bytes or in a data URL. */
const CARRIERS: ReadonlySet<string> = new Set(["file_data", "file_url", "image_url", "video_url", "audio_url", "url", "data"]);
/** The maximum nesting of a request. */
const MAX_DEPTH = REQUEST_LEVELS;

/** The base64 text document at `holder[key]`, once for each way in which a receiver may decode it. */
export function base64Slots(holder: JsonObject, key: string, role: TextSlot["role"], touch: () => void): TextSlot[] {
  const encoded = holder[key] as string;
  return base64Readers(encoded).map((read) => slot(holder, key, role, touch, "", read(encoded).toString("utf8")));
}

/** The text document embedded in the URL at `holder[key]`; empty for other URLs and files. */
export function addressSlots(holder: JsonObject, key: string, name: string | null, role: TextSlot["role"], touch: () => void): TextSlot[] {
  const address = holder[key];
  const head = typeof address === "string" ? DATA_URL.exec(address) : null;
  if (head === null) return [];
  const rest = (address as string).slice(head[0].length);
  const readersOf = head[3] === undefined ? () => [unescaped] : escapedBase64Readers;
  if (!isReadAsText(typeWithin(head[1] ?? "", name), name, rest, readersOf)) return [];
  const prefix = `data:${head[1]}${head[2] ?? ""};base64,`;
  return readersOf(rest).map((read) => slot(holder, key, role, touch, prefix, read(rest).toString("utf8")));
}

/** The media type of a data URL: plain text by default, unless a file name suggests otherwise. */
function typeWithin(reportedType: string, name: string | null): string {
  return reportedType.trim() === "" && name === null ? "text/plain" : reportedType;
}

/** The text documents and file names anywhere below `value` in OpenAI's formats; other files contain no inspectable text. */
export function fileSlots(value: JsonValue | undefined, touch: () => void): TextSlot[] {
  const slots: TextSlot[] = [];
  collectFiles(value, touch, slots, 0);
  return slots;
}

/** Runs for every model request, so it allocates nothing unless there is a file. */
function collectFiles(value: JsonValue | undefined, touch: () => void, slots: TextSlot[], depth: number): void {
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value) collectFiles(item, touch, slots, depth + 1);
    return;
  }
  for (const key in value) {
    const inner = value[key];
    if (typeof inner !== "string") collectFiles(inner, touch, slots, depth + 1);
    else if (CARRIERS.has(key)) slots.push(...fileSlot(value, key, touch));
    else if (key === "filename") slots.push(fileNameSlot(value, key, "user", touch));
  }
}

/** The file name at `holder[key]`, which models are shown. */
export function fileNameSlot(holder: JsonObject, key: string, role: TextSlot["role"], touch: () => void): TextSlot {
  const replace = (next: string) => {
    holder[key] = next;
    touch();
  };
  return { role, kind: "name", text: holder[key] as string, replace };
}

function fileSlot(holder: JsonObject, key: string, touch: () => void): TextSlot[] {
  const name = typeof holder.filename === "string" ? holder.filename : null;
  const encoded = holder[key] as string;
  if (key !== "data" && (key !== "file_data" || DATA_URL.test(encoded))) return addressSlots(holder, key, name, "user", touch);
  const type = key === "data" ? mediaTypeOf(holder) : "";
  return isReadAsText(type, name, encoded) ? base64Slots(holder, key, "user", touch) : [];
}

/** A replacement is written as base64 after `prefix`. */
function slot(holder: JsonObject, key: string, role: TextSlot["role"], touch: () => void, prefix: string, text: string): TextSlot {
  const replace = (next: string) => {
    holder[key] = prefix + Buffer.from(next, "utf8").toString("base64");
    touch();
  };
  return { role, kind: "text", text, replace };
}

/** The media type in other vendors' spellings, which some servers accept. */
function mediaTypeOf(holder: JsonObject): string {
  const mediaType = ["media_type", "mime_type", "mimeType"].map((name) => holder[name]).find((type) => typeof type === "string");
  return (mediaType as string | undefined) ?? "";
}

/** In a URL, base64 may be percent-encoded. */
const escapedBase64Readers = (escaped: string): readonly ReadFile[] =>
  base64Readers(plainBase64(escaped)).map((read) => (encoded) => read(plainBase64(encoded)));
const plainBase64 = (escaped: string): string => (escaped.includes("%") ? unescaped(escaped).toString("latin1") : escaped);

/** The bytes of a percent-encoded text; invalid escapes are kept literally, as by URL parsers. */
function unescaped(text: string): Buffer {
  if (!text.includes("%")) return Buffer.from(text, "utf8");
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { 0: escaped, index } of text.matchAll(/(?:%[0-9a-f]{2})+/gi)) {
    pieces.push(Buffer.from(text.slice(from, index), "utf8"), Buffer.from(escaped.replaceAll("%", ""), "hex"));
    from = index + escaped.length;
  }
  return Buffer.concat([...pieces, Buffer.from(text.slice(from), "utf8")]);
}
