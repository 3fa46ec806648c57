import type { ErrorCode } from "../../kernel/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../document.ts";

/** What one error of the protocol is in each of its bindings. */
interface AgentError {
  readonly code: ErrorCode;
  /** As `google.rpc.ErrorInfo` names it. */
  readonly reason: string;
  readonly rpc: number;
  /** The name of the gRPC status. */
  readonly status: string;
}

const AGENT_ERRORS: readonly AgentError[] = [
  { code: "agent_task_not_found", reason: "TASK_NOT_FOUND", rpc: -32001, status: "NOT_FOUND" },
  { code: "agent_task_not_cancelable", reason: "TASK_NOT_CANCELABLE", rpc: -32002, status: "FAILED_PRECONDITION" },
  { code: "agent_push_not_supported", reason: "PUSH_NOTIFICATION_NOT_SUPPORTED", rpc: -32003, status: "FAILED_PRECONDITION" },
  { code: "agent_unsupported_operation", reason: "UNSUPPORTED_OPERATION", rpc: -32004, status: "FAILED_PRECONDITION" },
  { code: "agent_content_type_not_supported", reason: "CONTENT_TYPE_NOT_SUPPORTED", rpc: -32005, status: "INVALID_ARGUMENT" },
  { code: "agent_invalid_response", reason: "INVALID_AGENT_RESPONSE", rpc: -32006, status: "INTERNAL" },
  { code: "agent_extended_card_not_configured", reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED", rpc: -32007, status: "FAILED_PRECONDITION" },
  { code: "agent_extension_required", reason: "EXTENSION_SUPPORT_REQUIRED", rpc: -32008, status: "FAILED_PRECONDITION" },
  { code: "agent_version_not_supported", reason: "VERSION_NOT_SUPPORTED", rpc: -32009, status: "FAILED_PRECONDITION" },
  { code: "agent_invalid_params", reason: "INVALID_PARAMS", rpc: -32602, status: "INVALID_ARGUMENT" },
];

const byCode = new Map<ErrorCode, AgentError>(AGENT_ERRORS.map((error) => [error.code, error]));
const byReason = new Map(AGENT_ERRORS.map((error) => [error.reason, error]));
const byRpc = new Map(AGENT_ERRORS.map((error) => [error.rpc, error]));

export function agentErrorOf(code: ErrorCode): AgentError | null {
  return byCode.get(code) ?? null;
}

/** What an agent said went wrong, in whichever binding it says so; null where it names no error of the protocol. */
export interface ToldError {
  readonly code: ErrorCode;
  readonly message: string;
}

const LONGEST_MESSAGE = 500;
const said = (value: JsonValue | undefined, otherwise: string) =>
  typeof value === "string" && value !== "" ? value.slice(0, LONGEST_MESSAGE) : otherwise;

/** Of the body of an answer that is no 2xx. */
export function restError(body: JsonValue): ToldError | null {
  const error = isObject(body) && isObject(body.error) ? body.error : null;
  if (error === null) return isObject(body) && typeof body.code === "number" ? rpcError(body) : null;
  const details = Array.isArray(error.details) ? error.details.filter(isObject) : [];
  for (const { reason } of details) {
    const known = typeof reason === "string" ? byReason.get(reason) : undefined;
    if (known !== undefined) return { code: known.code, message: said(error.message, known.reason) };
  }
  return error.status === "INVALID_ARGUMENT"
    ? { code: "agent_invalid_params", message: said(error.message, "INVALID_ARGUMENT") }
    : rpcError(error);
}

/** Of the `error` of a JSON-RPC answer. */
export function rpcError(error: JsonObject): ToldError | null {
  const known = typeof error.code === "number" ? byRpc.get(error.code) : undefined;
  if (known === undefined) return null;
  return { code: known.code, message: said(error.message, known.reason) };
}
