import { ownEntry } from "../../kernel/collections/own-entry.ts";
import type { ProviderFault } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";

/** The HTTP status of each Bedrock exception outside streams. */
const STATUS: Readonly<Record<string, number>> = {
  validationexception: 400,
  accessdeniedexception: 403,
  resourcenotfoundexception: 404,
  modeltimeoutexception: 408,
  modelerrorexception: 424,
  modelstreamerrorexception: 424,
  throttlingexception: 429,
  modelnotreadyexception: 429,
  servicequotaexceededexception: 400,
  internalserverexception: 500,
  serviceunavailableexception: 503,
};

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Shortens `com.amazonaws.bedrock#ThrottlingException:http://…` to `ThrottlingException`. */
export function shortExceptionName(type: string): string {
  return type.replace(/^[^#]*#/, "").replace(/:.*$/s, "");
}

export function readConverseFault(status: number, body: JsonObject | null, headers?: Headers): ProviderFault {
  const type = text(headers?.get("x-amzn-errortype")) ?? text(body?.["__type"]) ?? text(body?.code);
  const message = text(body?.message) ?? text(body?.Message) ?? text(body?.originalMessage) ?? `Amazon Bedrock answered ${status}.`;
  return { status, message, code: type === null ? null : shortExceptionName(type), param: null };
}

/** The fault for an exception or error within a stream. */
export function streamFault(name: string, payload: JsonObject): ProviderFault {
  const code = shortExceptionName(name);
  const original = payload.originalStatusCode;
  const known = ownEntry(STATUS, code.toLowerCase()) ?? 502;
  const status = typeof original === "number" && original >= 400 && original < 600 ? original : known;
  const message =
    text(payload.message) ?? text(payload.originalMessage) ?? `Amazon Bedrock broke off its answer${code === "" ? "" : `: ${code}`}.`;
  return { status, message, code: code === "" ? null : code, param: null };
}
