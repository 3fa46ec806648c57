import type { Refusal } from "../../../kernel/errors.ts";
import { isObject, type JsonValue } from "../../../kernel/json-value.ts";
import { MessageSlots } from "../../../wire/mcp/message-slots.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { refuseAnswerSize } from "./answer-size.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/** Whether what answers the request holds what its server says: a tool, a prompt, a resource, or suggestions for one. */
export function answersContent({ message, capability }: Pick<ToolRequest, "message" | "capability">): boolean {
  return capability !== null || message?.method === "completion/complete";
}

/**
 * Every answer of a tool server to a request that `answersContent` tells of comes by here before the caller gets it, in
 * all dialects. `text` is the whole message. Null lets it pass as it is, a text is the message the caller may have.
 */
export async function answerGate(
  call: Call,
  target: ToolTarget,
  text: string,
  result: JsonValue | undefined,
  { gates }: Pick<ToolParts, "gates">,
  surface: "mcp_output" | "skill_output" = "mcp_output",
): Promise<Refusal | string | null> {
  const tooLarge = refuseAnswerSize(target, text, isObject(result) ? result : {});
  if (tooLarge !== null) return tooLarge;
  if (!gates.looksAt(call, surface)) return null;
  const message = new MessageSlots(text);
  return (await gates.inspect(call, surface, message.slots)) ?? message.text();
}

/** Whether an answer that cannot be read must be withheld: a guardrail that can change or end the call has not seen it. */
export function mustBeRead(call: Call, { gates }: Pick<ToolParts, "gates">): boolean {
  return gates.enforces(call, "mcp_output");
}
