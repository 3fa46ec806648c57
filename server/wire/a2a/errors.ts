import type { ErrorCode } from "../../kernel/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { AGENT_ERRORS } from "./agent-errors.ts";

const byReason = new Map(AGENT_ERRORS.map((error) => [error.reason, error]));
const byRpc = new Map(AGENT_ERRORS.map((error) => [error.rpc, error]));

/** An error reported by an agent, independent of the binding. Readers return null if it is not an error of the protocol. */
export interface ReportedError {
  readonly code: ErrorCode;
  readonly message: string;
}

const MAX_MESSAGE_LENGTH = 500;

const messageOf = (value: JsonValue | undefined, otherwise: string) =>
  typeof value === "string" && value !== "" ? value.slice(0, MAX_MESSAGE_LENGTH) : otherwise;

/** Reads the error from the body of a non-2xx HTTP answer. */
export function restError(body: JsonValue): ReportedError | null {
  const error = isObject(body) && isObject(body.error) ? body.error : null;
  if (error === null) return isObject(body) && typeof body.code === "number" ? rpcError(body) : null;
  const details = Array.isArray(error.details) ? error.details.filter(isObject) : [];
  for (const { reason } of details) {
    const known = typeof reason === "string" ? byReason.get(reason) : undefined;
    if (known !== undefined) return { code: known.code, message: messageOf(error.message, known.reason) };
  }
  return error.status === "INVALID_ARGUMENT"
    ? { code: "agent_invalid_params", message: messageOf(error.message, "INVALID_ARGUMENT") }
    : rpcError(error);
}

/** Reads the `error` member of a JSON-RPC answer. */
export function rpcError(error: JsonObject): ReportedError | null {
  const known = typeof error.code === "number" ? byRpc.get(error.code) : undefined;
  if (known === undefined) return null;
  return { code: known.code, message: messageOf(error.message, known.reason) };
}
