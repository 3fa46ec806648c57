import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { estimateTokens } from "../usage.ts";
import { textSlots } from "./text-slots.ts";

/** Token overheads from the vendor's guides: per message, per tool definition, and for using tools at all. */
const MESSAGE = 4;
const TOOL = 12;
const TOOL_USE = 340;
/** An image of the largest size that is not scaled down. */
const IMAGE = 1_600;
/** A PDF page is read both as text and as an image; the number of pages is estimated from the file size. */
const PAGE = 3_000;
const BYTES_A_PAGE = 100_000;

/**
 * Estimates the input tokens of a Messages body, for providers that cannot count: four characters per token, one per
 * character outside Latin scripts. May be off by a third either way.
 */
export function estimateInputTokens(body: JsonObject): number {
  let tokens = 0;
  // Tool definitions are counted as a whole, including names and schemas.
  const { tools, ...rest } = body;
  for (const slot of textSlots(rest, () => {})) tokens += textTokens(slot.text);
  if (Array.isArray(body.messages)) {
    tokens += body.messages.length * MESSAGE;
    for (const message of body.messages) if (isObject(message)) tokens += mediaTokens(message.content);
  }
  if (Array.isArray(tools) && tools.length > 0) {
    tokens += TOOL_USE;
    for (const tool of tools) tokens += TOOL + textTokens(JSON.stringify(tool));
  }
  return Math.max(1, tokens);
}

const WIDE = /[\u0250-\u{10FFFF}]/gu;

function textTokens(text: string): number {
  const wide = text.match(WIDE)?.length ?? 0;
  return wide + estimateTokens(text.length - wide);
}

function mediaTokens(content: JsonValue | undefined): number {
  if (!Array.isArray(content)) return 0;
  let tokens = 0;
  for (const block of content) {
    if (!isObject(block)) continue;
    if (block.type === "image") tokens += IMAGE;
    else if (block.type === "document") tokens += documentTokens(block.source);
    else tokens += mediaTokens(block.content);
  }
  return tokens;
}

function documentTokens(source: JsonValue | undefined): number {
  if (!isObject(source) || source.type === "text") return 0;
  if (source.type === "content") return mediaTokens(source.content);
  const bytes = source.type === "base64" && typeof source.data === "string" ? source.data.length * 0.75 : 0;
  return PAGE * Math.max(1, Math.ceil(bytes / BYTES_A_PAGE));
}
