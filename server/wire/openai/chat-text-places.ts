import { isObject, type JsonObject } from "../document.ts";
import type { TextSlot } from "../inbound.ts";
import { visitToolTexts } from "../tool-texts.ts";
import { objectOf } from "./loose-fields.ts";
import { type TextVisitor, visitArguments, visitTexts } from "./text-places.ts";

export function visitChatDefinitions(body: JsonObject, visit: TextVisitor): void {
  for (const member of ["tools", "functions"])
    if (body[member] !== undefined)
      visitToolTexts(body[member], (holder) => visit("tool_definition", "text", holder, "description", member));
}

export function visitPrediction(body: JsonObject, visit: TextVisitor): void {
  const prediction = objectOf(body.prediction);
  if (prediction !== null) visitTexts("assistant", prediction, "content", "prediction", visit);
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

export function visitChatMessage(message: JsonObject, visit: TextVisitor): void {
  const role = chatRoleOf(message.role);
  for (const name of ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "content", "refusal"])
    if (message[name] !== undefined) visitTexts(role, message, name, "messages", visit);
  if (Array.isArray(message.tool_calls)) {
    for (const call of message.tool_calls) {
      if (!isObject(call)) continue;
      if (isObject(call.function)) visitArguments(call.function, "messages", visit);
      if (isObject(call.custom)) visitTexts("assistant", call.custom, "input", "messages", visit);
    }
  }
  if (isObject(message.function_call)) visitArguments(message.function_call, "messages", visit);
}
