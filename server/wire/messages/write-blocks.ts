import type { CacheHint, FilePart, ImagePart, TextPart, ToolResultPart, UserPart } from "../conversation/conversation-parts.ts";
import type { Feature } from "../conversation/request.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { type ToolIds } from "./tool-ids.ts";
import { isProblem, messagesDocumentBlock, messagesImageBlock, type Written } from "./write-media.ts";

/** What a request writer could not express. */
export interface MessagesWriteReport {
  readonly dropped: Set<Feature>;
  readonly unsupported: { readonly feature: Feature; readonly message: string }[];
}

/** A plain string if the content is a single plain text. */
export function contentOf(blocks: JsonObject[]): JsonObject[] | string {
  const [only] = blocks;
  return blocks.length === 1 && only?.type === "text" && only.cache_control === undefined ? (only.text as string) : blocks;
}

export function cacheControl(cache: CacheHint | undefined): JsonObject {
  if (cache === undefined) return {};
  return { cache_control: cache.ttl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" } };
}

export function messagesTextBlock(part: TextPart): JsonObject[] {
  return part.text.trim() === "" ? [] : [{ type: "text", text: part.text, ...cacheControl(part.cache) }];
}

export function messagesUserBlock(part: UserPart, ids: ToolIds, shortfall: MessagesWriteReport): JsonObject[] {
  if (part.kind === "tool_result") return [resultBlock(part, ids, shortfall)];
  if (part.kind === "audio") {
    shortfall.unsupported.push({ feature: "audio", message: "this model's provider takes no audio" });
    return [];
  }
  return contentBlock(part, shortfall);
}

function contentBlock(part: TextPart | ImagePart | FilePart, shortfall: MessagesWriteReport): JsonObject[] {
  if (part.kind === "text") return messagesTextBlock(part);
  const written: Written = part.kind === "image" ? messagesImageBlock(part) : messagesDocumentBlock(part);
  if (isProblem(written)) {
    shortfall.unsupported.push({ feature: part.kind, message: written.problem });
    return [];
  }
  return [{ ...written, ...cacheControl(part.cache) }];
}

function resultBlock(part: ToolResultPart, ids: ToolIds, shortfall: MessagesWriteReport): JsonObject {
  const content = part.content.flatMap((inner) => contentBlock(inner, shortfall));
  return {
    type: "tool_result",
    tool_use_id: ids.ofResult(part.callId),
    ...(content.length === 0 ? {} : { content: contentOf(content) }),
    ...(part.isError ? { is_error: true } : {}),
    ...cacheControl(part.cache),
  };
}
