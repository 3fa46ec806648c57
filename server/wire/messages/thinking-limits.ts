import type { ConversationRequest, ToolChoice } from "../conversation/request.ts";

/** Whether the model must call a tool: Claude refuses to think then, and the call is what the caller insists on. */
export function forcesCall(choice: ToolChoice | null): boolean {
  return choice?.kind === "required" || choice?.kind === "tool" || (choice?.kind === "subset" && choice.required);
}

/** In the middle of a tool loop Claude wants the thinking that led to the calls; a caller whose format lost it goes on without. */
export function continuesWithoutThinking({ turns }: ConversationRequest): boolean {
  const at = turns.findLastIndex(({ role }) => role === "assistant");
  if (!turns.slice(at + 1).some(({ role, parts }) => role === "user" && parts.some(({ kind }) => kind === "tool_result"))) return false;
  const calling = turns[at];
  return (
    calling?.role === "assistant" && !calling.parts.some((part) => part.kind === "reasoning" && part.signature?.family === "anthropic")
  );
}

/** Claude samples at its default while it thinks: which of the caller's wishes it would refuse. */
export function sampledOtherwise({ temperature, topP, topK }: ConversationRequest): ("temperature" | "top_p" | "top_k")[] {
  const refused: ("temperature" | "top_p" | "top_k")[] = [];
  if (temperature !== null && temperature !== 1) refused.push("temperature");
  if (topP !== null && topP < 0.95) refused.push("top_p");
  if (topK !== null) refused.push("top_k");
  return refused;
}
