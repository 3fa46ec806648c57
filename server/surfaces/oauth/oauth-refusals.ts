import type { Surface } from "../../road/surface.ts";
import type { ErrorCode } from "../../kernel/errors.ts";
import { PAGE_HEADERS, plainPage } from "../../wire/http/html-page.ts";

const nothing = new Uint8Array(0);

/** The OAuth error code (RFC 6749, 7591, 8707) for a refusal. */
function wordOf(code: ErrorCode): string {
  if (code === "unauthenticated") return "invalid_client";
  if (code.startsWith("oauth_")) return code.slice("oauth_".length);
  if (
    code.startsWith("upstream_") ||
    code === "directory_unavailable" ||
    code === "database_unavailable" ||
    code === "audit_unavailable" ||
    code === "draining"
  )
    return "temporarily_unavailable";
  return code === "internal_error" ? "server_error" : code === "body_too_large" ? "invalid_request" : code;
}

/** Refusals as OAuth error bodies. */
export const jsonRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal) => ({
    headers: { "content-type": "application/json", "cache-control": "no-store" },
    body: JSON.stringify({ error: wordOf(refusal.code), error_description: refusal.message }),
  }),
  streamError: () => nothing,
};

/** Refusals as HTML pages, for requests made by a browser. */
export const pageRefusals: Pick<Surface, "refusal" | "streamError"> = {
  refusal: (refusal) => ({ headers: PAGE_HEADERS, body: plainPage("This did not work", refusal.message) }),
  streamError: () => nothing,
};
