import type { Refusal } from "../../../kernel/errors.ts";
import { isObject, type JsonValue } from "../../../kernel/json-value.ts";
import { MessageSlots } from "../../../wire/mcp/message-slots.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { ownEntry } from "../../../kernel/collections/own-entry.ts";
import { memberText, readUpstreamRpc, REFUSED, requestText } from "../../../wire/mcp/rpc.ts";
import type { TextSlot } from "../../../wire/inbound.ts";
import { addTag } from "../../../road/record/add-tag.ts";
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
  return tooLarge ?? messageGate(call, text, { gates }, undefined, surface);
}

/**
 * Every message of a tool server comes by here before the caller gets it: null lets it pass as it is, a text is the message the
 * caller may have. `except`: parts of its result that other gates look at.
 */
export async function messageGate(
  call: Call,
  text: string,
  { gates }: Pick<ToolParts, "gates">,
  except?: ReadonlySet<string>,
  surface: "mcp_output" | "skill_output" = "mcp_output",
): Promise<Refusal | string | null> {
  if (!gates.looksAt(call, surface)) return null;
  const message = new MessageSlots(text, except);
  return (await gates.inspect(call, surface, message.slots)) ?? message.text();
}

/** As `messageGate`, of a text that is no message. */
export async function textGate(call: Call, text: string, { gates }: Pick<ToolParts, "gates">): Promise<Refusal | string | null> {
  if (!gates.looksAt(call, "mcp_output")) return null;
  let said = text;
  const slot: TextSlot = {
    role: "tool",
    kind: "text",
    get text() {
      return said;
    },
    replace: (other) => void (said = other),
  };
  return (await gates.inspect(call, "mcp_output", [slot])) ?? (said === text ? null : said);
}

/** What a server says beside its answers, as the caller may have it; null where it is withheld, which ends nothing else. */
export async function toldText(call: Call, text: string, parts: Pick<ToolParts, "gates">, isMessage = true): Promise<string | null> {
  const verdict = await (isMessage ? messageGate : textGate)(call, text, parts);
  if (verdict === null || typeof verdict === "string") return verdict ?? text;
  addTag(call, "message_withheld");
  const value = isMessage ? readUpstreamRpc(text) : null;
  if (value?.method !== CANCELLED) return null;
  // What is cancelled is cancelled whatever the reason.
  return requestText(null, CANCELLED, `{"requestId":${memberText(memberText(text, "params") ?? "{}", "requestId")}}`);
}
const CANCELLED = "notifications/cancelled";

/** The error for a server whose question to its caller was withheld, so that it does not wait for an answer. */
export const QUESTION_WITHHELD = { code: REFUSED, message: "The question was withheld: a guardrail blocked it." };

/** What of the answer to a method the gates for definitions look at. */
const DEFINITIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  "tools/list": new Set(["tools"]),
  initialize: new Set(["instructions"]),
  "server/discover": new Set(["instructions"]),
};
export function definitionsIn(method: string | null | undefined): ReadonlySet<string> | undefined {
  return ownEntry(DEFINITIONS, method ?? "");
}

/** Whether an answer that cannot be read must be withheld: a guardrail that can change or end the call has not seen it. */
export function mustBeRead(call: Call, { gates }: Pick<ToolParts, "gates">): boolean {
  return gates.enforces(call, "mcp_output");
}
