import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { REQUEST_LEVELS } from "../json/nesting.ts";
import { base64Readers, isReadAsText, type ReadFile } from "./text-file.ts";

const DATA_URL = /^\s*data:([^;,]*)((?:;[^;,]*)*?)(; *base64 *)?,/i;
/** Where OpenAI's formats carry a file, as bytes or as an address that holds them. */
const CARRIERS: ReadonlySet<string> = new Set(["file_data", "file_url", "image_url", "video_url", "audio_url", "url", "data"]);
/** As deep as a request may go. */
const MAX_DEPTH = REQUEST_LEVELS;

/** A text document in base64 at `holder[key]`, as each of those may have it that read it. */
export function base64Slots(holder: JsonObject, key: string, role: TextSlot["role"], touch: () => void): TextSlot[] {
  const encoded = holder[key] as string;
  return base64Readers(encoded).map((read) => slot(holder, key, role, touch, "", read(encoded).toString("utf8")));
}

/** The text document that the address at `holder[key]` holds within itself; none for other addresses and files. */
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

/** What an address says that it holds: of one that says nothing a plain text, unless its file's name says otherwise. */
function typeWithin(said: string, name: string | null): string {
  return said.trim() === "" && name === null ? "text/plain" : said;
}

/** The text documents that OpenAI's formats carry anywhere below `value`, and what files are called; others hold no text to look at. */
export function fileSlots(value: JsonValue | undefined, touch: () => void): TextSlot[] {
  const slots: TextSlot[] = [];
  collectFiles(value, touch, slots, 0);
  return slots;
}

/** Looked through for every request to a model: nothing is made where there is no file. */
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

/** What a file is called at `holder[key]`: models are told of it. */
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

/** What replaces the text goes out as base64 behind `prefix`. */
function slot(holder: JsonObject, key: string, role: TextSlot["role"], touch: () => void, prefix: string, text: string): TextSlot {
  const replace = (next: string) => {
    holder[key] = prefix + Buffer.from(next, "utf8").toString("base64");
    touch();
  };
  return { role, kind: "text", text, replace };
}

/** As parts of other vendors' formats say it, which some servers take as well. */
function mediaTypeOf(holder: JsonObject): string {
  const said = ["media_type", "mime_type", "mimeType"].map((name) => holder[name]).find((type) => typeof type === "string");
  return (said as string | undefined) ?? "";
}

/** In an address base64 may be escaped like anything else. */
const escapedBase64Readers = (escaped: string): readonly ReadFile[] =>
  base64Readers(plainBase64(escaped)).map((read) => (encoded) => read(plainBase64(encoded)));
const plainBase64 = (escaped: string): string => (escaped.includes("%") ? unescaped(escaped).toString("latin1") : escaped);

/** The bytes of an address: what is escaped wrongly stands for itself, as it does to whoever reads addresses. */
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
