import { networkReason } from "./http/network-reason.ts";

/**
 * Every error a client may ever see, declared once: code, HTTP status, safe message, and whether retrying can help. Surfaces turn a
 * `Refusal` into their own protocol's body; docs/reference/errors.md is generated from this table.
 */

export interface ErrorSpec {
  readonly status: number;
  /** Shown if the refusal has no more specific message. Never contains caller or tenant data. */
  readonly message: string;
  /** Whether the same request may succeed later unchanged. */
  readonly retry: boolean;
}

export const ERRORS = {
  // The request
  invalid_body: { status: 400, message: "The request body is not valid.", retry: false },
  ambiguous_name: { status: 400, message: "Two names in the request are the same to case-insensitive parsers.", retry: false },
  invalid_query: { status: 400, message: "The query string is not valid.", retry: false },
  invalid_header: { status: 400, message: "A request header is not valid.", retry: false },
  model_mode_mismatch: { status: 400, message: "The model does not serve this endpoint.", retry: false },
  too_many_sessions: { status: 429, message: "This tenant has too many open sessions. Close some, or try again shortly.", retry: true },
  body_too_large: { status: 413, message: "The request body is larger than this gateway accepts.", retry: false },
  body_timeout: { status: 408, message: "The request body did not arrive in time.", retry: true },
  too_many_open_bodies: { status: 429, message: "Too many requests are still sending their bodies. Try again shortly.", retry: true },
  file_too_large: { status: 413, message: "The file exceeds the size limit for its kind.", retry: false },
  file_storage_full: {
    status: 413,
    message: "The file storage of this resource group is full. Delete files, or wait until some expire.",
    retry: false,
  },
  file_not_found: { status: 404, message: "There is no such file.", retry: false },
  range_not_satisfiable: { status: 416, message: "The file has no bytes in that range.", retry: false },
  speech_declined: { status: 400, message: "The model returned no audio.", retry: false },
  picture_declined: { status: 400, message: "The model returned no picture.", retry: false },
  audio_length_unknown: {
    status: 400,
    message: "The length of the audio cannot be read from the file, but the limits of this resource group require it.",
    retry: false,
  },
  too_many_uploads: { status: 429, message: "Too many files of this tenant are being transferred. Try again shortly.", retry: true },
  files_unavailable: { status: 503, message: "The file store cannot be reached.", retry: true },
  batch_not_found: { status: 404, message: "There is no such batch job.", retry: false },
  batch_ended: { status: 409, message: "The batch job has ended, or is about to.", retry: false },
  batch_under_way: { status: 409, message: "The batch job has not ended yet.", retry: false },
  batch_cancelled: { status: 409, message: "The batch job was cancelled before this line was answered.", retry: false },
  batch_expired: { status: 504, message: "The batch ended before this line was answered.", retry: true },
  batch_needs_key: { status: 403, message: "Batch jobs are submitted with an API key or by a person.", retry: false },
  too_many_batches: { status: 429, message: "This tenant has too many batch jobs that have not ended.", retry: true },
  video_not_found: { status: 404, message: "There is no such video job.", retry: false },
  video_ended: { status: 409, message: "The video job has ended.", retry: false },
  video_not_cancellable: { status: 409, message: "The video job cannot be cancelled: its provider continues it.", retry: false },
  video_not_ready: { status: 409, message: "The video job has not ended yet, or produced no video.", retry: true },
  too_many_videos: { status: 429, message: "This tenant has too many video jobs that have not ended.", retry: true },
  response_not_found: { status: 404, message: "There is no such response.", retry: false },
  previous_response_not_found: { status: 400, message: "The previous response was not found.", retry: false },
  response_not_metered: {
    status: 409,
    message: "The usage of the response is not known yet. It cannot be deleted before that.",
    retry: true,
  },
  too_many_responses: { status: 429, message: "This tenant has too many background responses in progress.", retry: true },
  unsupported_media_type: { status: 415, message: "This address does not accept bodies of this type.", retry: false },
  not_found: { status: 404, message: "There is nothing at this address.", retry: false },
  method_not_allowed: { status: 405, message: "This address does not support this method.", retry: false },

  // Authentication
  unauthenticated: { status: 401, message: "Missing or invalid credential.", retry: false },
  too_many_strangers: {
    status: 429,
    message: "Too many calls without a valid credential come from this address. Try again later.",
    retry: true,
  },
  inactive_user: { status: 403, message: "This user is not active.", retry: false },
  api_key_suspended: {
    status: 403,
    message: "This API key is suspended because your identity provider no longer admits you. Sign in to the portal again.",
    retry: false,
  },
  address_not_allowed: { status: 403, message: "This API key is not accepted from your address.", retry: false },
  sign_on_refused: { status: 403, message: "This sign-in was refused.", retry: false },
  account_exists: {
    status: 409,
    message: "There is already an account of this name that is not linked to this sign-in. Ask an administrator to link it.",
    retry: false,
  },
  identity_provider_unavailable: { status: 502, message: "The identity provider cannot be reached just now.", retry: true },
  password_change_required: { status: 403, message: "Choose a password of your own first.", retry: false },
  own_keys_off: { status: 403, message: "Personal API keys are switched off for this tenant. Ask an administrator.", retry: false },
  local_passwords_off: {
    status: 403,
    message: "Passwords are switched off for this tenant. Sign in with your organization's identity provider.",
    retry: false,
  },
  access_ended: { status: 403, message: "Your access ended while this request was being answered.", retry: false },
  forbidden: { status: 403, message: "You may not do this.", retry: false },
  group_not_allowed: { status: 403, message: "The resource group named in X-Resource-Group is not open to this credential.", retry: false },
  no_resource_group: { status: 403, message: "You are in no resource group. Ask an administrator to put you in one.", retry: false },
  registration_closed: { status: 403, message: "This tenant does not let people register themselves.", retry: false },
  two_factor_required: { status: 403, message: "Your tenant requires two-factor sign-in. Set it up first.", retry: false },
  recent_sign_in_required: {
    status: 403,
    message: "This takes a sign-in within the last 15 minutes. Sign out, sign in again, and repeat it.",
    retry: false,
  },
  two_factor_state: { status: 409, message: "Two-factor login is not in a state that allows this.", retry: false },
  not_implemented: { status: 501, message: "Only an administrator can do this.", retry: false },
  invalid_notice: { status: 422, message: "The notice record is not valid.", retry: false },
  rate_limited: { status: 429, message: "Too many notice records.", retry: true },
  evidence_disabled: { status: 503, message: "No notice is shown here, so none is recorded.", retry: false },
  collector_clock: { status: 400, message: "The events were not sent within 5 minutes of the gateway's time.", retry: false },
  collector_replay: { status: 409, message: "This nonce was used before.", retry: false },
  collector_rate_limited: { status: 429, message: "This collector sends too often. Try again later.", retry: true },
  too_many_registrations: { status: 429, message: "Too many registrations from this address. Try again later.", retry: true },
  too_many_readings: { status: 429, message: "Too many others are reading the ledger. Try again shortly.", retry: true },
  too_many_logins: { status: 429, message: "Too many failed logins. Try again later.", retry: true },

  // The requested resource
  residency_violation: { status: 403, message: "No model for this request is in a region the tenant allows.", retry: false },
  media_unavailable: {
    status: 400,
    message: "An image or file that the request names by URL could not be fetched for the model's provider.",
    retry: true,
  },
  unsupported_parameter: { status: 400, message: "The model's provider does not support everything the request asks for.", retry: false },
  model_not_found: { status: 404, message: "There is no such model.", retry: false },
  model_not_allowed: { status: 403, message: "The model is not granted to the caller's resource group.", retry: false },
  model_disabled: { status: 403, message: "The model is switched off.", retry: false },

  // Knowledge bases
  knowledge_base_not_found: { status: 404, message: "There is no such knowledge base for this caller.", retry: false },
  knowledge_base_disabled: { status: 403, message: "The knowledge base is switched off.", retry: false },
  knowledge_unavailable: { status: 503, message: "The knowledge bases cannot be searched just now.", retry: true },

  // Tool servers
  tool_server_not_found: { status: 404, message: "There is no such tool server.", retry: false },
  tool_server_not_allowed: { status: 403, message: "The tool server is not granted to the caller's resource group.", retry: false },
  tool_server_disabled: { status: 403, message: "The tool server is switched off.", retry: false },
  tool_not_allowed: { status: 403, message: "There is no such tool, prompt or resource for this caller.", retry: false },
  // 200, because the protocol's clients take a 403 for a missing OAuth scope.
  approval_required: {
    status: 403,
    message: "This call needs approval. Send it again with X-Approval-Token once it is approved.",
    retry: false,
  },
  approval_rejected: { status: 403, message: "This call was not approved.", retry: false },
  approval_token_invalid: { status: 403, message: "The approval token is not valid for this call, or was already used.", retry: false },
  approval_not_pending: { status: 409, message: "This approval was resolved already, or has expired.", retry: false },
  origin_not_allowed: { status: 403, message: "This origin or host may not call tool servers through this gateway.", retry: false },
  session_not_found: { status: 404, message: "There is no such session. Begin again with initialize.", retry: false },
  event_not_found: { status: 404, message: "This caller has no stream with that Last-Event-ID.", retry: false },
  session_required: { status: 400, message: "Begin with initialize, and send its Mcp-Session-Id with every request.", retry: false },
  rpc_parse_error: { status: 400, message: "The body is not JSON.", retry: false },
  rpc_invalid_request: { status: 400, message: "The body is not one JSON-RPC 2.0 message.", retry: false },
  rpc_invalid_params: { status: 400, message: "The params of the request are not valid.", retry: false },
  rpc_method_not_found: { status: 404, message: "This method is not served here.", retry: false },
  rpc_header_mismatch: { status: 400, message: "A header contradicts the body.", retry: false },
  rpc_unsupported_version: { status: 400, message: "This version of the protocol is not served here.", retry: false },
  tool_payload_too_large: {
    status: 413,
    message: "The request exceeds the size limit for this tool server, or is too large to review for approval.",
    retry: false,
  },
  tool_result_too_large: { status: 502, message: "The tool server's answer exceeds the size limit of the caller's group.", retry: false },
  input_not_supported: { status: 200, message: "The tool server asks for input that this client cannot give.", retry: false },

  // Skills
  skill_not_found: { status: 404, message: "There is no such skill for this caller.", retry: false },
  skill_file_not_found: { status: 404, message: "The skill has no such file.", retry: false },
  skill_arguments_invalid: { status: 400, message: "The arguments of the tool are not valid.", retry: false },
  skill_template_failed: { status: 400, message: "The template could not be filled in.", retry: false },
  sandbox_unavailable: { status: 503, message: "There is no working sandbox for scripts of this language, so none can run.", retry: false },
  sandbox_busy: { status: 503, message: "Too many scripts are running. Try again shortly.", retry: true },

  // Agents
  ai_system_suspended: { status: 403, message: "The AI System that this call belongs to is suspended.", retry: false },
  ai_system_retired: { status: 409, message: "The AI System is retired: it can be read, but no longer changed.", retry: false },
  certificate_revoked: { status: 409, message: "This snapshot is revoked: no certificate is issued for it.", retry: false },
  own_contract: { status: 403, message: "A contract must be approved by somebody other than its author.", retry: false },
  illegal_transition: { status: 409, message: "This step is not possible from the current state.", retry: false },
  agent_not_found: { status: 404, message: "There is no such agent.", retry: false },
  agent_not_allowed: { status: 403, message: "The agent is not granted to the caller's resource group.", retry: false },
  agent_disabled: { status: 403, message: "The agent is switched off.", retry: false },
  agent_grant_outdated: {
    status: 403,
    message: "The agent's skills have changed since it was granted. Ask an administrator to confirm the grant.",
    retry: false,
  },
  agent_skill_not_allowed: {
    status: 403,
    message: "The caller's resource group may use only some of the agent's skills. Name one of them in metadata.skillId of the message.",
    retry: false,
  },
  agent_undiscovered: {
    status: 502,
    message: "The agent's card has not been found, so the gateway does not know where and how to call it.",
    retry: true,
  },
  delegation_loop: { status: 403, message: "The agent is already in the delegation chain.", retry: false },
  delegation_too_deep: { status: 403, message: "The delegation chain is longer than the agent's grant allows.", retry: false },
  agent_task_not_found: { status: 404, message: "Task not found.", retry: false },
  agent_task_not_cancelable: { status: 400, message: "The task can no longer be cancelled.", retry: false },
  agent_push_not_supported: { status: 400, message: "The agent does not support push notifications.", retry: false },
  agent_unsupported_operation: { status: 400, message: "The agent does not support this operation.", retry: false },
  agent_content_type_not_supported: { status: 400, message: "The agent does not support content of this type.", retry: false },
  agent_invalid_response: { status: 500, message: "The agent sent an answer that is not valid A2A.", retry: true },
  agent_extended_card_not_configured: { status: 400, message: "The agent has no extended card.", retry: false },
  agent_extension_required: {
    status: 400,
    message: "The agent requires an extension that the request does not name in A2A-Extensions.",
    retry: false,
  },
  agent_version_not_supported: { status: 400, message: "This version of A2A is not served here.", retry: false },
  agent_invalid_params: { status: 400, message: "The request is not valid A2A.", retry: false },
  agent_push_url_denied: { status: 400, message: "Notifications are not sent to this address.", retry: false },

  // Authorization for tool servers
  upstream_authorization_required: {
    status: 401,
    message: "The tool server needs your authorization. Connect your account, then send the request again.",
    retry: false,
  },
  upstream_scope_required: {
    status: 403,
    message: "Your authorization for the tool server does not cover this. Connect your account again, then send the request again.",
    retry: false,
  },
  oauth_invalid_request: { status: 400, message: "The authorization request is not valid.", retry: false },
  oauth_invalid_client: { status: 401, message: "The client is unknown.", retry: false },
  oauth_invalid_grant: { status: 400, message: "The code or refresh token is not valid, or was already used.", retry: false },
  oauth_invalid_target: { status: 400, message: "The resource is not the one this authorization server is for.", retry: false },
  oauth_unsupported_grant_type: { status: 400, message: "This grant type is not served.", retry: false },
  oauth_invalid_client_metadata: { status: 400, message: "A client with this metadata cannot be registered.", retry: false },
  oauth_invalid_redirect_uri: { status: 400, message: "The redirect address is not one of the client's.", retry: false },
  oauth_answer_refused: {
    status: 400,
    message: "The authorization server's answer does not belong to an authorization started in this browser. Start again.",
    retry: false,
  },

  // Limits and parameter governance
  rate_limit_exceeded: { status: 429, message: "A rate limit is reached.", retry: true },
  usage_limit_reached: { status: 429, message: "A usage limit is reached.", retry: false },
  run_ceiling_reached: { status: 429, message: "A ceiling of this run is reached.", retry: false },
  model_unpriced: { status: 403, message: "The model has no price, so a hard budget cannot cover a call to it.", retry: false },
  limits_unavailable: {
    status: 503,
    message: "The counters of a limit cannot be reached just now, and the limit does not allow calls without them.",
    retry: true,
  },
  parameter_rejected: { status: 400, message: "A parameter is outside what the resource group allows.", retry: false },
  tools_not_allowed: { status: 403, message: "Tools are not allowed in this resource group.", retry: false },
  guardrail_blocked: { status: 403, message: "The request was blocked by a policy.", retry: false },
  tool_call_limit_exceeded: { status: 403, message: "The model made more tool calls than the resource group allows.", retry: false },
  argument_policy_denied: { status: 403, message: "An argument policy denied a tool call of the model.", retry: false },
  semantic_policy_block: { status: 403, message: "The call was blocked by a semantic policy.", retry: false },

  // Upstream
  upstream_error: { status: 502, message: "The model provider failed.", retry: true },
  upstream_unreachable: { status: 502, message: "The model provider could not be reached.", retry: true },
  upstream_auth_failed: { status: 502, message: "The model provider refused the gateway's credential.", retry: false },
  upstream_model_denied: { status: 502, message: "The model provider does not let the gateway's account use this model.", retry: false },
  upstream_overloaded: { status: 503, message: "The model provider is overloaded.", retry: true },
  upstream_invalid_response: { status: 502, message: "The model provider sent an answer the gateway could not read.", retry: true },
  upstream_interrupted: { status: 502, message: "The model provider broke off its answer.", retry: true },
  upstream_timeout: { status: 504, message: "The model provider did not answer in time.", retry: true },
  no_healthy_member: { status: 503, message: "No member of the routing group can take calls just now.", retry: true },
  upstream_address_denied: { status: 502, message: "The model provider's address is not allowed from this gateway.", retry: false },

  // Gateway
  internal_error: { status: 500, message: "The gateway failed to handle this request.", retry: true },
  directory_unavailable: { status: 503, message: "The gateway cannot check this credential just now.", retry: true },
  audit_unavailable: { status: 503, message: "The gateway cannot record calls just now, so it does not serve them.", retry: true },
  ledger_unavailable: { status: 503, message: "The ledger's database does not answer just now.", retry: true },
  database_unavailable: { status: 503, message: "The gateway's database does not answer just now.", retry: true },
  starting: { status: 503, message: "The gateway is starting.", retry: true },
  draining: { status: 503, message: "This gateway process is shutting down.", retry: true },

  // Control plane
  conflict: { status: 409, message: "A record with this name already exists.", retry: false },
  already_bound: { status: 409, message: "It is already bound.", retry: false },
  not_bound: { status: 404, message: "It is not bound.", retry: false },
  in_use: { status: 409, message: "Other records still depend on this one.", retry: false },
  legal_hold: { status: 409, message: "The tenant is under a legal hold: nothing of it may be removed until the hold ends.", retry: false },
  read_only_field: { status: 422, message: "A read-only member was given another value.", retry: false },
  precondition_failed: { status: 412, message: "The record was changed meanwhile and no longer matches If-Match.", retry: false },
  directory_owned: { status: 409, message: "An external directory owns this: change it there.", retry: false },
  members_guarded: {
    status: 409,
    message: "This would remove more than 50 members of a group and keep at most one in ten, which the token does not allow.",
    retry: false,
  },
  idempotency_key_reused: { status: 409, message: "This Idempotency-Key was already used for another request.", retry: false },
  own_account: { status: 409, message: "This would lock you out of your own account.", retry: false },
  last_system_admin: { status: 409, message: "This would lock out the last active system administrator.", retry: false },
  key_not_active: { status: 409, message: "Only an active API key can be rotated.", retry: false },
  limit_exceeds_inherited: { status: 400, message: "A value is looser than what the group inherits.", retry: false },
  limit_exceeds_available: { status: 400, message: "A value exceeds what is left of the quota it draws on.", retry: false },
  cycle: { status: 400, message: "A resource group cannot be below itself.", retry: false },
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;

/** Errors for a caller who may not use the requested tool. */
export const TOOL_DENIALS: ReadonlySet<string> = new Set<ErrorCode>([
  "tool_server_not_allowed",
  "tool_server_disabled",
  "tool_not_allowed",
  "tools_not_allowed",
  "approval_rejected",
  "approval_token_invalid",
]);

/** Refusals by governance: those with status 403 or 429 (a cut stream has none left to tell), and others whose status does not show it. */
export const POLICY_REFUSALS: readonly ErrorCode[] = [
  ...(Object.keys(ERRORS) as ErrorCode[]).filter(
    (code) => (ERRORS[code].status === 403 || ERRORS[code].status === 429) && !code.startsWith("upstream_"),
  ),
  "ambiguous_name",
  "parameter_rejected",
  "tool_payload_too_large",
  "tool_result_too_large",
  "approval_required",
];

export interface FieldError {
  /** Dotted path into the body, query or header set; empty for the whole. */
  readonly field: string;
  readonly message: string;
}

/** A decision not to serve a call: a value, not an exception. */
export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fields?: readonly FieldError[];
  /** Extra members of the error body, in the surface's own naming. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider's own status, for callers whose vendor uses it. */
  readonly upstreamStatus?: number;
  /** What the audit row says if the caller must not know it (for example which part of a credential was wrong). */
  readonly reason?: string;
}

export function refuse(code: ErrorCode, message?: string, rest?: Omit<Refusal, "code" | "message">): Refusal {
  return { code, message: message ?? ERRORS[code].message, ...rest };
}

export function httpStatusOf(refusal: Refusal): number {
  return ERRORS[refusal.code].status;
}

/** For audit rows and administrators, who may know the reason. */
export function explained({ message, reason }: Refusal): string {
  return reason === undefined ? message : `${message} (${reason})`;
}

/** The message of anything thrown: not everything that libraries throw is an Error. */
export function reasonOf(error: unknown): string {
  return networkReason(error instanceof Error ? error.message : String(error));
}

/** Carries a refusal out of code that cannot return one (a transaction to roll back, a nested directory call). */
export class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = "Refused";
    this.refusal = refusal;
  }
}

/** Limits, because the sender of a body chooses how many of its fields are wrong and how they are named. */
const MAX_NAMED = 20;
const MAX_NAME_LENGTH = 200;

/** Names each field in the message too, for clients that show only the message. */
export function invalidFields(code: ErrorCode, fields: readonly FieldError[]): Refused {
  const named = fields.slice(0, MAX_NAMED).map(({ field, message }) => ({ field: field.slice(0, MAX_NAME_LENGTH), message }));
  const detail = named.map(({ field, message }) => (field === "" ? message : `${field}: ${message}`)).join("; ");
  const more = fields.length > named.length ? `; and ${fields.length - named.length} more` : "";
  return new Refused(refuse(code, detail + more, { fields: named }));
}

export function isRefusal(value: Refusal | object | null): value is Refusal {
  return value !== null && "code" in value && "message" in value;
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}
