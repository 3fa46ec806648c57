import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { tellsFailure } from "../openai/reply-object.ts";
import type { Usage } from "../usage.ts";
import { BlockFees, codeRun, type VendorFees } from "../vendor-tools.ts";
import { readMessagesUsage } from "./usage.ts";

/** Usage and output length of a complete message; null if the bytes are not a JSON object, or report a failure. */
export function readMessagesReply(bytes: Uint8Array): { usage: Usage | null; fees: VendorFees; outputCharacters: number } | null {
  let body: JsonValue;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch {
    return null;
  }
  if (!isObject(body) || tellsFailure(body, "content")) return null;
  let outputCharacters = 0;
  if (Array.isArray(body.content)) for (const block of body.content) outputCharacters += blockLength(block);
  const usage = readMessagesUsage(body.usage);
  const blocks = new BlockFees();
  if (Array.isArray(body.content)) for (const block of body.content) blocks.block(block);
  return { usage: usage === null ? null : { ...usage, ...codeRun(body.usage, blocks.ranCode) }, fees: blocks.fees, outputCharacters };
}

function blockLength(block: JsonValue): number {
  if (!isObject(block)) return 0;
  if (typeof block.text === "string") return block.text.length;
  if (typeof block.thinking === "string") return block.thinking.length;
  return block.input === undefined ? 0 : JSON.stringify(block.input).length;
}
