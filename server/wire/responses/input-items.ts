import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import type { TextSlot } from "../inbound.ts";
import { type BodyChecks, MAX_PROBLEMS } from "../openai/body-checks.ts";

/** Input is required unless the request refers to something stored at the provider. */
export function checkInputItems(body: JsonObject, checks: BodyChecks): void {
  const { input } = body;
  const stored = ["prompt", "previous_response_id", "conversation"].some((name) => body[name] !== undefined && body[name] !== null);
  if (input === undefined || input === null) {
    if (!stored) checks.add("input", "is required: a string, or an array of items");
    return;
  }
  if (typeof input === "string") return;
  if (!Array.isArray(input)) return checks.add("input", "must be a string or an array of items");
  if (input.length === 0 && !stored) checks.add("input", "must not be empty");
  for (let i = 0; i < input.length && checks.fields.length < MAX_PROBLEMS; i++) {
    const item: unknown = input[i];
    if (!isObject(item)) checks.add(`input[${i}]`, "must be an object");
    else if (item.type !== undefined && item.type !== null && typeof item.type !== "string")
      checks.add(`input[${i}].type`, "must be a string");
    else if (isMessage(item) && typeof item.role !== "string") checks.add(`input[${i}].role`, "must be a string");
  }
}

/** A message may omit its type. */
export function isMessage(item: JsonObject): boolean {
  return item.type === undefined || item.type === null || item.type === "message";
}

export function itemRole(item: JsonObject): TextSlot["role"] {
  if (isMessage(item)) {
    if (item.role === "system" || item.role === "developer") return "system";
    return item.role === "assistant" ? "assistant" : "user";
  }
  if (item.type === "agent_message") return "user";
  return typeof item.type === "string" && item.type.endsWith("_output") ? "tool" : "assistant";
}
