import type { JsonObject } from "../../../kernel/json-value.ts";
import type { TextSlot } from "../../inbound.ts";
import { visitToolTexts } from "../../texts/tool-texts.ts";
import { type RequestVisitor, type TextVisitor, visitRequestMembers, visitRequestTexts } from "../text-places.ts";

export function visitChatDefinitions(body: JsonObject, visit: TextVisitor): void {
  for (const member of ["tools", "functions"])
    if (body[member] !== undefined)
      visitToolTexts(body[member], (holder) => visit("tool_definition", "text", holder, "description", member));
}

export function visitPrediction(body: JsonObject, visit: RequestVisitor): void {
  visitRequestTexts("assistant", body, "prediction", "prediction", visit);
}

export function chatRoleOf(role: unknown): TextSlot["role"] {
  switch (role) {
    case "system":
    case "developer":
      return "system";
    case "assistant":
      return "assistant";
    case "tool":
    case "function":
      return "tool";
    default:
      return "user";
  }
}

export function visitChatMessage(message: JsonObject, visit: RequestVisitor): void {
  const role = chatRoleOf(message.role);
  if (isPlain(message)) {
    if (message.content !== "") visit(role, "text", message, "content", "messages");
  } else visitRequestMembers(role, message, "messages", visit);
}

/** Fast path: most messages have only a role and a text. */
function isPlain(message: JsonObject): boolean {
  for (const name in message) if (name !== "role" && name !== "content") return false;
  return typeof message.content === "string" && message.role !== undefined && !String(message.role).includes(" ");
}
