import type { Call } from "../../../road/call.ts";

const LONGEST = 200;

/** What a tool server calls the request, where it says so. */
export function noteUpstreamId(call: Call, response: Response): void {
  const id = response.headers.get("x-request-id") ?? response.headers.get("request-id");
  if (id !== null) call.row.upstream_request_id = id.slice(0, LONGEST);
}
