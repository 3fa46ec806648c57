import type { ProviderFault } from "../conversation/reply.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { member, numberIn, objectIn, objectsIn, textIn } from "./members.ts";

/** Google's status names and the HTTP status of each. */
const STATUS: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  OUT_OF_RANGE: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  CANCELLED: 499,
  INTERNAL: 500,
  UNKNOWN: 500,
  DATA_LOSS: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

const WORD: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  408: "DEADLINE_EXCEEDED",
  409: "ABORTED",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  500: "INTERNAL",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  529: "UNAVAILABLE",
};

const TYPE = "type.googleapis.com/google.rpc.";

/** `status` is the HTTP status; 0 if the error came within a stream, in which case the error's own code is used. */
export function readGeminiFault(status: number, body: JsonObject | null): ProviderFault {
  const value = body === null ? undefined : member(body, "error");
  const error = isObject(value) ? value : null;
  const word = error === null ? null : textIn(error, "status");
  const code = error === null ? null : numberIn(error, "code");
  // An invalid key is reported as an invalid argument, recognizable only by its reason.
  const reason = error === null ? null : detail(error, "ErrorInfo", "reason");
  const badKey = reason !== null && reason.startsWith("API_KEY_") ? reason : null;
  return {
    status: status > 0 ? status : httpStatus(code, word),
    message: (error === null ? null : textIn(error, "message")) ?? (typeof value === "string" ? value : "the provider reported an error"),
    code: badKey ?? word ?? (error === null ? null : textIn(error, "code")),
    param: error === null ? null : violatedField(error),
  };
}

function httpStatus(code: number | null, word: string | null): number {
  if (code !== null && Number.isInteger(code) && code >= 400 && code <= 599) return code;
  return word !== null && Object.hasOwn(STATUS, word) ? (STATUS[word] as number) : 502;
}

export function writeGeminiFault(fault: ProviderFault): JsonObject {
  const known = fault.code !== null && STATUS[fault.code] === fault.status;
  const status = known ? fault.code : rpcStatusOf(fault.status);
  const fieldViolations = [{ field: fault.param, description: fault.message }];
  const badRequest = fault.param === null ? [] : [{ "@type": `${TYPE}BadRequest`, fieldViolations }];
  const details = [...badRequest, ...retryDetails(fault.retryAfter)];
  return { error: { code: fault.status, message: fault.message, status, ...(details.length > 0 && { details }) } };
}

/** Google's status name for an HTTP status. */
export function rpcStatusOf(status: number): string {
  return WORD[status] ?? (status < 500 ? "INVALID_ARGUMENT" : "INTERNAL");
}

/** Google's form of `retry-after`; empty if the header is not in seconds. */
export function retryDetails(retryAfter: string | undefined): JsonObject[] {
  return /^\d{1,9}(?:\.\d{1,6})?$/.test(retryAfter ?? "") ? [{ "@type": `${TYPE}RetryInfo`, retryDelay: `${retryAfter}s` }] : [];
}

/** The provider's retry delay in seconds, which Google has in the body instead of a header; null if there is none. */
export function retryDelaySeconds(body: unknown): number | null {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isObject(first) ? objectIn(first, "error") : null;
  const delay = error === null ? null : detail(error, "RetryInfo", "retryDelay");
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(delay ?? "") ?? [];
  return seconds === undefined ? null : Number(seconds);
}

function detailsOf(error: JsonObject, type: string): JsonObject[] {
  return objectsIn(error, "details").filter((each) => textIn(each, "@type")?.endsWith(`.${type}`) === true);
}

function detail(error: JsonObject, type: string, name: string): string | null {
  for (const each of detailsOf(error, type)) {
    const text = textIn(each, name);
    if (text !== null) return text;
  }
  return null;
}

function violatedField(error: JsonObject): string | null {
  for (const each of detailsOf(error, "BadRequest")) {
    for (const violation of objectsIn(each, "fieldViolations")) {
      const field = textIn(violation, "field");
      if (field !== null && field !== "") return field;
    }
  }
  return null;
}
