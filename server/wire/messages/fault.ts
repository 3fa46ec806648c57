import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { ProviderFault } from "../conversation/reply.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};
const STATUSES: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(TYPES).map(([status, type]) => [type, Number(status)]),
);

/** The vendor's error type for a status, or for the closest status it uses. */
export function errorTypeOf(status: number): string {
  const known = TYPES[status];
  if (known !== undefined) return known;
  if (status === 408) return "timeout_error";
  if (status === 503) return "overloaded_error";
  return status >= 400 && status < 500 ? "invalid_request_error" : "api_error";
}

/**
 * Reads an error body, or the data of an error event, for which `status` is null. The code is the vendor's detailed code
 * if present (an exhausted budget has the same type as any rate limit), otherwise its type.
 */
export function readMessagesFault(status: number | null, body: JsonObject | null): ProviderFault {
  const error = isObject(body?.error) ? body.error : {};
  const type = typeof error.type === "string" ? error.type : null;
  const detail = isObject(error.details) && typeof error.details.error_code === "string" ? error.details.error_code : null;
  const message =
    typeof error.message === "string" && error.message !== "" ? error.message : "the provider reported an error without saying which";
  return { status: status ?? (type === null ? undefined : ownEntry(STATUSES, type)) ?? 500, message, code: detail ?? type, param: null };
}

/**
 * The vendor's error body. A code that is one of its types is kept, unless it is less specific than the status: other
 * vendors call everything below 500 an invalid request.
 */
export function writeMessagesFault(fault: ProviderFault, callId: string): JsonObject {
  const own = fault.code !== null && fault.code !== TYPES[400] && ownEntry(STATUSES, fault.code) !== undefined ? fault.code : null;
  const message = fault.param === null || fault.message.startsWith(fault.param) ? fault.message : `${fault.param}: ${fault.message}`;
  return { type: "error", error: { type: own ?? errorTypeOf(fault.status), message }, request_id: callId };
}
