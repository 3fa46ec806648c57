import type { Call } from "../call.ts";

const MAX_AGENT_LENGTH = 128;
const MAX_PATH_LENGTH = 128;

/** Whether the caller presented no credential, or one that does not exist. */
export function isUnauthenticated({ identity, row }: Call): boolean {
  return identity === null && row.api_key_id == null && row.gateway_user_id == null;
}

/** Shortens the row of an unauthenticated call, whose content and number anyone can choose. */
export function trimUnauthenticatedRow({ row, headers }: Call): void {
  row.user_agent = row.user_agent?.slice(0, MAX_AGENT_LENGTH) ?? null;
  row.endpoint = row.endpoint?.slice(0, MAX_PATH_LENGTH) ?? null;
  row.request_id = null;
  // Keep the gateway's own ID if the caller sent none.
  if (headers.get("x-correlation-id") !== null) row.correlation_id = null;
  row.trace_id = null;
  row.span_id = null;
  row.request_headers = null;
  row.response_headers = null;
  row.request_body_preview = null;
  row.response_body_preview = null;
}
