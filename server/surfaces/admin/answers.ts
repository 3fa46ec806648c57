import { namesTag } from "../../kernel/http/entity-tags.ts";
import { Refused, httpStatusOf, type Refusal } from "../../kernel/errors.ts";
import { internalErrorOf } from "../../kernel/internal-error.ts";
import type { Log } from "../../kernel/log.ts";
import { entityTag } from "./entity-tag.ts";

const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

export function adminJsonAnswer(status: number, value: unknown, etag?: string, more: Record<string, string> = {}): Response {
  const headers = { ...HEADERS, ...more, ...(etag === undefined ? {} : { etag }) };
  return status === 204 ? new Response(null, { status, headers: HEADERS }) : Response.json(value, { status, headers });
}

/** The response to a GET; 304 if the client already has this version. */
export function readAnswer(request: Request, status: number, value: unknown): Response {
  const etag = entityTag(value);
  const held = request.headers.get("if-none-match");
  return held !== null && namesTag(held, etag)
    ? new Response(null, { status: 304, headers: { ...HEADERS, etag } })
    : adminJsonAnswer(status, value, etag);
}

/** The one place where a refusal becomes a response of the control plane: `{detail, code, fields?, ...}`. */
export function refusalAnswer(refusal: Refusal): Response {
  const status = httpStatusOf(refusal);
  const body = {
    detail: refusal.message,
    code: refusal.code,
    ...(refusal.fields === undefined ? {} : { fields: refusal.fields }),
    ...refusal.extra,
  };
  const headers: Record<string, string> = { ...HEADERS, ...refusal.headers };
  if (status === 401) headers["www-authenticate"] = "Bearer";
  return Response.json(body, { status, headers });
}

/** The response to an error. Anything but a refusal is our fault, and its details go only to the log. */
export function errorAnswer(error: unknown, log: Log, where: { method: string; path: string; requestId: string }): Response {
  if (error instanceof Refused) return refusalAnswer(error.refusal);
  log.error("admin_request_failed", { ...where, error: error instanceof Error ? error : new Error(String(error)) });
  return refusalAnswer(internalErrorOf(error));
}
