import type { Call } from "../../../road/call.ts";

const MAX_LENGTH = 200;

/** Notes the tool server's own request ID on the row, if the server sends one. */
export function noteUpstreamId(call: Call, response: Response): void {
  const id = response.headers.get("x-request-id") ?? response.headers.get("request-id");
  if (id !== null) call.row.upstream_request_id = id.slice(0, MAX_LENGTH);
}
