import type { ConversationRequest, ToolChoice } from "../conversation/request.ts";

/** Whether a tool call is required. Claude then refuses to think, and the call takes precedence. */
export function forcesCall(choice: ToolChoice | null): boolean {
  return choice?.kind === "required" || choice?.kind === "tool" || (choice?.kind === "subset" && choice.required);
}

/** Within a tool loop, Claude requires the thinking that led to the calls; if the caller's format lost it, thinking is turned off. */
export function continuesWithoutThinking({ turns }: ConversationRequest): boolean {
  const at = turns.findLastIndex(({ role }) => role === "assistant");
  if (!turns.slice(at + 1).some(({ role, parts }) => role === "user" && parts.some(({ kind }) => kind === "tool_result"))) return false;
  const calling = turns[at];
  return (
    calling?.role === "assistant" && !calling.parts.some((part) => part.kind === "reasoning" && part.signature?.family === "anthropic")
  );
}

/** The sampling settings that Claude refuses while it thinks, because they differ from the defaults. */
export function sampledOtherwise({ temperature, topP, topK }: ConversationRequest): ("temperature" | "top_p" | "top_k")[] {
  const refused: ("temperature" | "top_p" | "top_k")[] = [];
  if (temperature !== null && temperature !== 1) refused.push("temperature");
  if (topP !== null && topP < 0.95) refused.push("top_p");
  if (topK !== null) refused.push("top_k");
  return refused;
}
