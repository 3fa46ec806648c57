import { ERRORS, type Refusal } from "../../kernel/errors.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { errorType } from "../../wire/openai/fault.ts";
import { messageOf } from "../llm/refusals.ts";

/** The error event of the Realtime API. `clientId`: the ID of the client's event that caused it. */
export function errorEvent(refusal: Refusal, clientId: string | null): JsonObject {
  const { code, extra } = refusal;
  const type = errorType(ERRORS[code].status);
  return {
    type: "error",
    error: { type, code, message: messageOf(refusal), param: null, event_id: clientId, ...(extra as JsonObject | undefined) },
  };
}

/** The error event for what the surface itself refuses. */
export function problemEvent(
  { code, message, param }: { readonly code: string; readonly message: string; readonly param: string | null },
  eventId: string | null,
): JsonObject {
  const type = code.startsWith("upstream") ? "server_error" : "invalid_request_error";
  return { type: "error", error: { type, code, message, param, event_id: eventId } };
}
