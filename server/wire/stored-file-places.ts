import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";

/** The formats in which a message can name a file by ID. */
export type FileNamingFormat = "chat" | "responses" | "messages" | "gemini";

/** The content that replaces a file ID. */
export interface FileContent {
  readonly mimeType: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A place in a body that names one of the gateway's own files. */
export interface FilePlace {
  /** The path of the file ID. */
  readonly field: string;
  readonly fileId: string;
  /** Replaces the ID with the inline file in the form of the format; other members of the message stay. */
  put(content: FileContent): void;
}

/** The member that holds the conversation's turns. */
export const TURNS: Readonly<Record<FileNamingFormat, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  gemini: "contents",
};

/** The form of the gateway's own file IDs; vendors' IDs look different and are passed on. */
const OWN_ID = /^file-[0-9A-HJKMNP-TV-Z]{26}$/;
/** The prefix of a file ID in Google's clients: `https://…/v1beta/files/` or `files/`. */
const GOOGLE_NAME = /^(?:https?:\/\/[^?#]{1,300}\/v1(?:beta)?\/)?files\//;
/** Members that contain message parts. Objects elsewhere (tool arguments, schemas) may look like parts but are not. */
const PARTS = ["content", "parts", "output"] as const;
/** Deeper than any vendor nests model input. */
const MAX_DEPTH = 8;
/** Audio types that have a format name in OpenAI's API. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = { "audio/mpeg": "mp3", "audio/wav": "wav", "audio/vnd.wave": "wav" };

/** Every place in a body's turns that names one of the gateway's own files, in order. */
export function filePlaces(body: JsonObject, format: FileNamingFormat): FilePlace[] {
  const places: FilePlace[] = [];
  const turns = TURNS[format];
  visit(body[turns], turns, format, places, 0);
  return places;
}

function visit(value: JsonValue | undefined, field: string, format: FileNamingFormat, places: FilePlace[], depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (Array.isArray(value)) return value.forEach((item, i) => visit(item, `${field}[${i}]`, format, places, depth + 1));
  if (!isObject(value)) return;
  const place = READERS[format](value, field);
  if (place !== null) return void places.push(place);
  for (const name of PARTS) visit(value[name], `${field}.${name}`, format, places, depth + 1);
}

const READERS: Readonly<Record<FileNamingFormat, (part: JsonObject, field: string) => FilePlace | null>> = {
  chat: chatPlace,
  responses: responsesPlace,
  messages: messagesPlace,
  gemini: geminiPlace,
};

function chatPlace(part: JsonObject, field: string): FilePlace | null {
  const member = part.type === "file" ? "file" : part.type === "image_url" ? "image_url" : null;
  const holder = member === null ? undefined : part[member];
  if (member === null || !isObject(holder)) return null;
  return placeOf(`${field}.${member}.file_id`, holder.file_id, (content) => {
    delete part[member];
    const { file_id: _, ...rest } = holder;
    const format = AUDIO_FORMATS[content.mimeType];
    if (content.mimeType.startsWith("image/")) {
      part.type = "image_url";
      part.image_url = { ...(rest.detail === undefined ? {} : { detail: rest.detail }), url: dataUrl(content) };
    } else if (format !== undefined) {
      part.type = "input_audio";
      part.input_audio = { data: base64(content), format };
    } else if (isText(content)) {
      // The only form that all servers of this format accept.
      part.type = "text";
      part.text = textOf(content);
    } else {
      part.type = "file";
      part.file = { filename: rest.filename ?? content.name, file_data: dataUrl(content) };
    }
  });
}

function responsesPlace(part: JsonObject, field: string): FilePlace | null {
  if (part.type !== "input_file" && part.type !== "input_image") return null;
  return placeOf(`${field}.file_id`, part.file_id, (content) => {
    delete part.file_id;
    if (content.mimeType.startsWith("image/")) {
      delete part.filename;
      part.type = "input_image";
      part.image_url = dataUrl(content);
    } else {
      delete part.detail;
      part.type = "input_file";
      part.filename ??= content.name;
      part.file_data = dataUrl(content);
    }
  });
}

function messagesPlace(block: JsonObject, field: string): FilePlace | null {
  const { source } = block;
  if (!isObject(source) || source.type !== "file") return null;
  return placeOf(`${field}.source.file_id`, source.file_id, (content) => {
    if (content.mimeType.startsWith("image/")) block.type = "image";
    else if (block.type === "image") block.type = "document";
    if (block.type === "document") block.title ??= content.name;
    block.source = isText(content)
      ? { type: "text", media_type: "text/plain", data: textOf(content) }
      : { type: "base64", media_type: content.mimeType, data: base64(content) };
  });
}

function geminiPlace(part: JsonObject, field: string): FilePlace | null {
  const member = isObject(part.fileData) ? "fileData" : "file_data";
  const holder = part[member];
  if (!isObject(holder)) return null;
  const name = typeof holder.fileUri === "string" ? "fileUri" : "file_uri";
  return placeOf(`${field}.${member}.${name}`, idInUri(holder[name]), (content) => {
    delete part[member];
    part.inlineData = { mimeType: content.mimeType, data: base64(content) };
  });
}

/** Google's clients name a file by its URL. */
function idInUri(uri: JsonValue | undefined): JsonValue | undefined {
  return typeof uri === "string" ? uri.replace(GOOGLE_NAME, "") : uri;
}

function placeOf(field: string, fileId: JsonValue | undefined, put: FilePlace["put"]): FilePlace | null {
  return typeof fileId === "string" && OWN_ID.test(fileId) ? { field, fileId, put } : null;
}

const isText = ({ mimeType }: FileContent) => mimeType === "text/plain";

function textOf({ bytes }: FileContent): string {
  return new TextDecoder().decode(bytes);
}

function base64({ bytes }: FileContent): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function dataUrl(content: FileContent): string {
  return `data:${content.mimeType};base64,${base64(content)}`;
}
