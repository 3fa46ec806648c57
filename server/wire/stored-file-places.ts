import { isObject, type JsonObject, type JsonValue } from "../kernel/json-value.ts";

/** The formats in which a message names a file by id. */
export type FileNamingFormat = "chat" | "responses" | "messages" | "gemini";

/** What is put in the place of a file's id. */
export interface FileContent {
  readonly mimeType: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One place in a body that names a file of the gateway's own. */
export interface FilePlace {
  /** Where the id stands. */
  readonly field: string;
  readonly fileId: string;
  /** Says the file as its format says one that comes along; what the message says beside the file stays. */
  put(content: FileContent): void;
}

/** The member with the turns of a conversation. */
export const TURNS: Readonly<Record<FileNamingFormat, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  gemini: "contents",
};

/** Ids of files are the gateway's own where they look like this; a vendor's look otherwise and go to that vendor. */
const OWN_ID = /^file-[0-9A-HJKMNP-TV-Z]{26}$/;
/** What stands before an id where Google's clients name a file: `https://…/v1beta/files/`, or `files/`. */
const GOOGLE_NAME = /^(?:https?:\/\/[^?#]{1,300}\/v1(?:beta)?\/)?files\//;
/** Members below which parts of messages stand; what stands elsewhere (arguments of tools, schemas) only looks like a part. */
const PARTS = ["content", "parts", "output"] as const;
/** Deeper than any vendor nests what a model reads. */
const MAX_DEPTH = 8;
/** Formats of sound that OpenAI's API has a word for. */
const AUDIO_FORMATS: Readonly<Record<string, string>> = { "audio/mpeg": "mp3", "audio/wav": "wav", "audio/vnd.wave": "wav" };

/** Every place in the turns of a body that names a file of the gateway's own, in order. */
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
      // The one form that every server of this format takes.
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

/** Google's clients name a file by its address. */
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
