import type {
  CacheHint,
  FilePart,
  ImagePart,
  MediaSource,
  TextPart,
  ToolResultPart,
  UserPart,
} from "../conversation/conversation-parts.ts";
import { type JsonObject, type JsonValue, isObject } from "../../kernel/json-value.ts";
import { ownEntry } from "../../kernel/collections/own-entry.ts";
import { dropOthers, type MessagesReadReport } from "./losses.ts";

export const blockText = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** `{ cache }` for a block with a cache mark, otherwise empty; to be spread into a part. */
export function cacheOf(block: JsonObject): { cache?: CacheHint } {
  if (!isObject(block.cache_control)) return {};
  return { cache: { ttl: block.cache_control.ttl === "1h" ? "1h" : "5m" } };
}

/** The members read of each type of block. */
const BLOCK_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(["type", "text", "cache_control"]),
  image: new Set(["type", "source", "cache_control"]),
  document: new Set(["type", "source", "title", "context", "citations", "cache_control"]),
  tool_result: new Set(["type", "tool_use_id", "content", "is_error", "cache_control"]),
  tool_use: new Set(["type", "id", "name", "input", "cache_control", "caller"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
};

const SOURCE_MEMBERS: ReadonlySet<string> = new Set(["type", "media_type", "data", "url", "file_id", "content"]);

export function dropUnread(block: JsonObject, path: string, losses: MessagesReadReport): void {
  const known = ownEntry(BLOCK_MEMBERS, String(block.type));
  const at = path.replaceAll(/\[\d+\]/g, "[]");
  if (known !== undefined) dropOthers(block, known, `${at}.`, losses);
  if (isObject(block.source)) dropOthers(block.source, SOURCE_MEMBERS, `${at}.source.`, losses);
}

/** The blocks of a content, which is a string or an array, each with its path in the caller's body. */
export function* blocksOf(content: JsonValue | undefined, path: string): Generator<[JsonObject, string]> {
  if (typeof content === "string") yield [{ type: "text", text: content }, path];
  else if (Array.isArray(content)) for (const [i, block] of content.entries()) if (isObject(block)) yield [block, `${path}[${i}]`];
}

export function readTextParts(content: JsonValue | undefined, path: string, losses: MessagesReadReport): TextPart[] {
  const parts: TextPart[] = [];
  for (const [block, at] of blocksOf(content, path)) {
    dropUnread(block, at, losses);
    if (block.type === "text") parts.push(...textPart(block));
    else refuseBlock(block, at, losses);
  }
  return parts;
}

export function readUserParts(content: JsonValue | undefined, path: string, losses: MessagesReadReport): UserPart[] {
  const parts: UserPart[] = [];
  for (const [block, at] of blocksOf(content, path)) {
    dropUnread(block, at, losses);
    if (block.type === "tool_result") parts.push(toolResultPart(block, at, losses));
    else parts.push(...contentParts(block, at, losses));
  }
  return parts;
}

function textPart(block: JsonObject): TextPart[] {
  return typeof block.text === "string" ? [{ kind: "text", text: block.text, ...cacheOf(block) }] : [];
}

function contentParts(block: JsonObject, path: string, losses: MessagesReadReport): (TextPart | ImagePart | FilePart)[] {
  if (block.type === "text") return textPart(block);
  if (block.type === "image") {
    const source = mediaSource(block.source);
    if (source !== null) return [{ kind: "image", ...source, ...cacheOf(block) }];
  } else if (block.type === "document") {
    return documentParts(block, path, losses);
  }
  refuseBlock(block, path, losses);
  return [];
}

function documentParts(block: JsonObject, path: string, losses: MessagesReadReport): (TextPart | FilePart)[] {
  const cited = isObject(block.citations) && block.citations.enabled === true;
  const source = documentSource(block.source, path, losses);
  if (source === null) {
    refuseBlock(block, `${path}.source`, losses);
    return [];
  }
  const context = blockText(block.context);
  const file: FilePart = { kind: "file", ...source, name: blockText(block.title), ...(cited && { cited }), ...cacheOf(block) };
  return context ? [{ kind: "text", text: context }, file] : [file];
}

function documentSource(
  value: JsonValue | undefined,
  path: string,
  losses: MessagesReadReport,
): Pick<FilePart, "source" | "mediaType"> | null {
  if (!isObject(value)) return null;
  if (value.type === "text" && typeof value.data === "string")
    return { source: { text: value.data }, mediaType: blockText(value.media_type) ?? "text/plain" };
  if (value.type === "content") {
    const text = readTextParts(value.content, `${path}.source.content`, losses).map((part) => part.text);
    return { source: { text: text.join("\n") }, mediaType: "text/plain" };
  }
  const media = mediaSource(value);
  // The vendor accepts only PDF by URL.
  return media !== null && value.type === "url" ? { ...media, mediaType: "application/pdf" } : media;
}

function mediaSource(value: JsonValue | undefined): { source: MediaSource; mediaType: string | null } | null {
  if (!isObject(value)) return null;
  const mediaType = blockText(value.media_type);
  if (value.type === "base64" && typeof value.data === "string") return { source: { base64: value.data }, mediaType };
  if (value.type === "url" && typeof value.url === "string") return { source: { url: value.url }, mediaType };
  if (value.type === "file" && typeof value.file_id === "string") return { source: { fileId: value.file_id }, mediaType };
  return null;
}

function toolResultPart(block: JsonObject, path: string, losses: MessagesReadReport): ToolResultPart {
  const content: (TextPart | ImagePart | FilePart)[] = [];
  for (const [inner, at] of blocksOf(block.content, `${path}.content`)) {
    dropUnread(inner, at, losses);
    content.push(...contentParts(inner, at, losses));
  }
  return {
    kind: "tool_result",
    callId: blockText(block.tool_use_id) ?? "",
    toolName: null,
    content,
    isError: block.is_error === true,
    ...cacheOf(block),
  };
}

export function refuseBlock(block: JsonObject, path: string, losses: MessagesReadReport): void {
  losses.unsupported.push({
    field: `${path}.type`,
    message: `${JSON.stringify(block.type ?? null)} blocks cannot be translated for this model`,
  });
}
