import { ulid } from "../../kernel/ids.ts";

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/;

/** The caller's own ID of the request, or a new one. */
export function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id") ?? "";
  return REQUEST_ID.test(given) ? given : ulid();
}
