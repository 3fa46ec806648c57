import type { ErrorCode } from "../../kernel/errors.ts";

/** One A2A error and its representation in each binding. */
interface AgentError {
  readonly code: ErrorCode;
  /** The `reason` in `google.rpc.ErrorInfo`. */
  readonly reason: string;
  readonly rpc: number;
  /** The gRPC status name. */
  readonly status: string;
}

export const AGENT_ERRORS: readonly AgentError[] = [
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

export function agentErrorOf(code: ErrorCode): AgentError | null {
  return byCode.get(code) ?? null;
}
