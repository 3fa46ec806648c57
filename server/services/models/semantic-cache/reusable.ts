import type { SemanticCacheEntry } from "../../../directory/semantic-cache/config-entry.ts";
import type { ConversationReply } from "../../../wire/conversation/reply.ts";
import type { Call } from "../../../road/call.ts";
import type { Conversation } from "../../../road/conversation.ts";

const MAX_REQUEST_BYTES = 1024 * 1024;

/**
 * Whether an answer given before may answer this request. Not where the caller asks for variety (several answers, a
 * temperature above what is configured), for what another try must do anew (tools), for what no stored answer could say
 * again, or where a name stands twice: its provider may have answered the other of the two than the key is made of.
 */
export function mayReuse(call: Call, { inbound, caller, statefulFields }: Conversation, cache: SemanticCacheEntry): boolean {
  if ((call.row.request_size_bytes ?? 0) > MAX_REQUEST_BYTES || inbound.opaque || statefulFields.length > 0) return false;
  // What one reader may see another may not, and documents change.
  if (call.row.rag_enabled === true) return false;
  if (inbound.candidates !== 1 || (inbound.temperature ?? 0) > cache.maxTemperature) return false;
  if (inbound.repeatedName !== null) return false;
  const read = caller.readRequest(inbound.body);
  if ("unsupported" in read || read.request.logprobs !== null) return false;
  return cache.includeTools || (read.request.tools.length === 0 && inbound.tools.length === 0);
}

/** Whether an answer is one that may be given again: a single one that came to its own end and says something. */
export function mayStore(reply: ConversationReply, cache: SemanticCacheEntry): boolean {
  const [only, another] = reply.candidates;
  if (only === undefined || another !== undefined || reply.usage === null || reply.usage.estimated) return false;
  const ended = only.stop === "end" || only.stop === "stop_sequence" || (only.stop === "tool_call" && cache.includeTools);
  const said = only.parts.every(({ kind }) => kind === "text" || kind === "reasoning" || (kind === "tool_call" && cache.includeTools));
  // What is said about an end says that something was wrong with it.
  return (
    ended &&
    only.stopDetail === null &&
    said &&
    only.parts.some((part) => (part.kind === "text" && part.text !== "") || part.kind === "tool_call")
  );
}
