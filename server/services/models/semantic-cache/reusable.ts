import type { SemanticCacheEntry } from "../../../directory/semantic-cache/config-entry.ts";
import type { ConversationReply } from "../../../wire/conversation/reply.ts";
import type { Call } from "../../../road/call.ts";
import type { Conversation } from "../../../road/request/conversation.ts";

const MAX_REQUEST_BYTES = 1024 * 1024;

/**
 * Whether a stored answer may serve this request. Not if the caller asks for variety (several candidates, a temperature above the
 * configured one), for tool calls, for parts that are not stored, or if a member name is repeated: the provider may read the other one than
 * the key is made from.
 */
export function mayReuse(call: Call, { inbound, caller, statefulFields }: Conversation, cache: SemanticCacheEntry): boolean {
  if ((call.row.request_size_bytes ?? 0) > MAX_REQUEST_BYTES || inbound.opaque || statefulFields.length > 0) return false;
  // Readers may see different documents, and documents change.
  if (call.row.rag_enabled === true) return false;
  if (inbound.candidates !== 1 || (inbound.temperature ?? 0) > cache.maxTemperature) return false;
  if (inbound.repeatedName !== null) return false;
  const read = caller.readRequest(inbound.body);
  if ("unsupported" in read || read.request.logprobs !== null) return false;
  return cache.includeTools || (read.request.tools.length === 0 && inbound.tools.length === 0);
}

/** Whether an answer may be stored: a single candidate that ended normally and says something. */
export function mayStore(reply: ConversationReply, cache: SemanticCacheEntry): boolean {
  const [only, another] = reply.candidates;
  if (only === undefined || another !== undefined || reply.usage === null || reply.usage.estimated) return false;
  const ended = only.stop === "end" || only.stop === "stop_sequence" || (only.stop === "tool_call" && cache.includeTools);
  const isText = only.parts.every(({ kind }) => kind === "text" || kind === "reasoning" || (kind === "tool_call" && cache.includeTools));
  // A stop detail means that something was wrong.
  return (
    ended &&
    only.stopDetail === null &&
    isText &&
    only.parts.some((part) => (part.kind === "text" && part.text !== "") || part.kind === "tool_call")
  );
}
