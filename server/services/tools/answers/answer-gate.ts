import type { Refusal } from "../../../kernel/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { MessageSlots } from "../../../wire/mcp/message-slots.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { ownEntry } from "../../../kernel/collections/own-entry.ts";
import { REFUSED, requestText } from "../../../wire/mcp/rpc.ts";
import { hasWords } from "../../../wire/texts/other-texts.ts";
import type { TextSlot } from "../../../wire/inbound.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import { cancelledQuestion } from "../questions/questions-together.ts";
import { refuseAnswerSize } from "./answer-size.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";

/** Whether the answer to the request contains content from its server: a tool, a prompt, a resource, or completions for one. */
export function answersContent({ message, capability }: Pick<ToolRequest, "message" | "capability">): boolean {
  return capability !== null || message?.method === "completion/complete";
}

/**
 * Inspects every answer of a tool server for which `answersContent` is true, in all dialects. `text` is the whole message. Returns null if
 * it passes unchanged, or the text that the caller may have.
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
 * Inspects every message of a tool server. Returns null if it passes unchanged, or the text that the caller may have. `except`: members of
 * the result that other gates inspect.
 */
export async function messageGate(
  call: Call,
  text: string,
  { gates }: Pick<ToolParts, "gates">,
  except?: ReadonlySet<string>,
  surface: "mcp_output" | "skill_output" = "mcp_output",
): Promise<Refusal | string | null> {
  if (!gates.inspects(call, surface)) return null;
  const message = new MessageSlots(text, except);
  return (await gates.inspect(call, surface, message.slots)) ?? message.text();
}

/** Like `messageGate`, for text that is not a JSON-RPC message. */
export async function textGate(call: Call, text: string, { gates }: Pick<ToolParts, "gates">): Promise<Refusal | string | null> {
  if (!gates.inspects(call, "mcp_output")) return null;
  let cleared = text;
  const slot: TextSlot = {
    role: "tool",
    kind: "text",
    get text() {
      return cleared;
    },
    replace: (other) => void (cleared = other),
  };
  return (await gates.inspect(call, "mcp_output", [slot])) ?? (cleared === text ? null : cleared);
}

/**
 * Inspects what a server sends besides its answers. Null if it is withheld; the call goes on without it. `value`: null if the text is not a
 * message.
 */
export async function inspectedText(
  call: Call,
  { text, value }: { readonly text: string; readonly value: JsonObject | null },
  parts: Pick<ToolParts, "gates">,
): Promise<string | null> {
  // An ID cannot be changed, because its answer or its request would no longer be found.
  const id = value?.id;
  const hidden = typeof id === "string" && hasWords(id) ? await textGate(call, id, parts) : null;
  const verdict = hidden !== null ? hidden : await (value === null ? textGate : messageGate)(call, text, parts);
  if (hidden === null && (verdict === null || typeof verdict === "string")) return verdict ?? text;
  addTag(call, "message_withheld");
  const cancelled = value === null ? null : cancelledQuestion({ text, value });
  // A cancellation must reach the caller even if its reason is withheld, unless the ID may be content as well.
  if (cancelled === null || (typeof cancelled === "string" && hasWords(cancelled))) return null;
  return requestText(null, CANCELLED, JSON.stringify({ requestId: cancelled }));
}
const CANCELLED = "notifications/cancelled";

/** The error sent to a server whose question to its caller was withheld, so that it does not wait for an answer. */
export const QUESTION_WITHHELD = { code: REFUSED, message: "The question was withheld: a guardrail blocked it." };

/** Members of an answer that the gates for definitions inspect, by method. */
const DEFINITIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  "tools/list": new Set(["tools"]),
  initialize: new Set(["instructions"]),
  "server/discover": new Set(["instructions"]),
};
export function definitionsIn(method: string | null | undefined): ReadonlySet<string> | undefined {
  return ownEntry(DEFINITIONS, method ?? "");
}

/** Whether an answer that cannot be read must be withheld, because a guardrail that can change or refuse it has not seen it. */
export function mustBeRead(call: Call, { gates }: Pick<ToolParts, "gates">): boolean {
  return gates.enforces(call, "mcp_output");
}
