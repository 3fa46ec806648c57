import type { ProviderFault } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { filledOf, objectOf, stringOf } from "./loose-fields.ts";

const NOTHING_SAID = "The provider reported an error and did not say what it was.";

/**
 * Reads an error of OpenAI or a compatible server: an `error` object, an `error` string, its members at the top level
 * (vLLM), or `detail` (Mistral, FastAPI).
 */
export function readOpenAiFault(status: number, body: JsonObject | null): ProviderFault {
  const error = objectOf(body?.error) ?? body ?? {};
  return {
    status,
    message:
      filledOf(body?.error) ??
      filledOf(error.message) ??
      filledOf(body?.detail) ??
      (body?.detail === undefined ? NOTHING_SAID : JSON.stringify(body.detail)),
    code: wordOf(error.code) ?? wordOf(error.type),
    param: stringOf(error.param),
  };
}

/** The error object in OpenAI's error body. */
export function errorObject({ status, message, code, param }: ProviderFault): JsonObject {
  return { message, type: errorType(status), param, code };
}

export function writeOpenAiFault(fault: ProviderFault): JsonObject {
  return { error: errorObject(fault) };
}

/** The HTTP status for an error reported within a stream. */
export function statusOfFault(error: JsonObject): number {
  const { code } = error;
  if (typeof code === "number" && Number.isInteger(code) && code >= 400 && code < 600) return code;
  const words = `${String(code ?? "")} ${String(error.type ?? "")}`;
  if (/rate_limit|quota|too_many/.test(words)) return 429;
  if (/overloaded|unavailable/.test(words)) return 503;
  if (/timeout/.test(words)) return 504;
  if (/authentication|api_key/.test(words)) return 401;
  if (/permission/.test(words)) return 403;
  if (/not_found/.test(words)) return 404;
  return /invalid|content_filter|context_length|bad_request/i.test(words) ? 400 : 500;
}

function wordOf(value: unknown): string | null {
  return typeof value === "number" ? String(value) : filledOf(value);
}

/** The vendor's error type for a status. */
export function errorType(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 404) return "not_found_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
