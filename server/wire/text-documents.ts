import { isObject, type JsonObject, type JsonValue } from "./document.ts";
import type { TextSlot } from "./inbound.ts";

const TEXT_TYPE = /^(?:text\/|application\/(?:[\w.-]+\+(?:json|xml)|json|x-ndjson|jsonl|xml|x-javascript|javascript|typescript|x-python|x-sh|sql|rtf|yaml|x-yaml|toml)\b)/i;
const TEXT_NAME = /\.(?:txt|text|md|markdown|csv|tsv|jsonl?|ndjson|xml|html?|ya?ml|toml|ini|log|rtf|tex|sql|py|jsx?|tsx?|css|sh)$/i;
const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*?)(;base64)?,/i;
/** Of bytes whose sender did not say what they are. */
const UNSAID = /^(?:application\/octet-stream)?$/i;
/** Deeper than any vendor nests what a model reads. */
const MAX_DEPTH = 16;

/** Whether bytes of this media type are a text that the model reads like any other. */
export function isTextType(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType);
}

/** A text document in base64 at `holder[key]`. */
export function base64Slot(holder: JsonObject, key: string, role: TextSlot["role"], touch: () => void): TextSlot {
  return slot(holder, key, role, touch, "", Buffer.from(holder[key] as string, "base64").toString("utf8"));
}

/** The text documents that OpenAI's formats carry as `file_data` anywhere below `value`; other files hold no text to look at. */
export function fileSlots(value: JsonValue | undefined, touch: () => void, depth = 0): TextSlot[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => fileSlots(item, touch, depth + 1));
  if (!isObject(value)) return [];
  const own = typeof value.file_data === "string" ? fileSlot(value, value.file_data, touch) : null;
  return own === null ? Object.values(value).flatMap((inner) => fileSlots(inner, touch, depth + 1)) : [own];
}

function fileSlot(holder: JsonObject, data: string, touch: () => void): TextSlot | null {
  const head = DATA_URL.exec(data);
  const type = head?.[1] ?? "";
  const named = typeof holder.filename === "string" && TEXT_NAME.test(holder.filename);
  if (!isTextType(type) && !(named && UNSAID.test(type))) return null;
  const rest = data.slice(head?.[0].length ?? 0);
  const text = head !== null && head[3] === undefined ? unescaped(rest) : Buffer.from(rest, "base64").toString("utf8");
  return slot(holder, "file_data", "user", touch, head === null ? "" : `data:${type}${head[2] ?? ""};base64,`, text);
}

/** What replaces the text goes out as base64 behind `prefix`. */
function slot(holder: JsonObject, key: string, role: TextSlot["role"], touch: () => void, prefix: string, text: string): TextSlot {
  const replace = (next: string) => {
    holder[key] = prefix + Buffer.from(next, "utf8").toString("base64");
    touch();
  };
  return { role, kind: "text", text, replace };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
