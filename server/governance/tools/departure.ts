import type { ToolServerEntry } from "../../directory/tools/tool-server-entry.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { callerToken } from "../authorization/caller-token.ts";
import type { Call } from "../call.ts";
import type { ToolParts } from "./tool-parts.ts";

/** Says on the row where the call is about to go; a refusal when that could not be recorded. */
export function departure(call: Call, url: string, body: string | Uint8Array | null, { begin }: Pick<ToolParts, "begin">): Refusal | null {
  call.row.target_url = url.split("?")[0] as string;
  if (body !== null) {
    call.requestContent = body;
    call.row.request_content_hash = sha256Hex(body);
  }
  try {
    begin(call);
    return null;
  } catch (error) {
    return refuse("audit_unavailable", undefined, { reason: error instanceof Error ? error.message : String(error) });
  }
}

/** How the gateway shows itself, or the caller, to the server. */
export function credentialHeaders(server: ToolServerEntry, request: Request): Record<string, string> {
  if (server.authType === "bearer" && server.credential !== null) return { authorization: `Bearer ${server.credential}` };
  if (server.authType !== "oauth") return {};
  // What is kept in the caller's name is added on the way out; this tells callers of one key apart.
  const own = callerToken(server, request);
  return own === null ? {} : { authorization: `Bearer ${own}` };
}

/** A server that does not let the gateway in; null when it did not say so. */
export function refusedCredential(server: ToolServerEntry, response: Response): Refusal | null {
  if (response.status !== 401 && response.status !== 403) return null;
  void response.body?.cancel().catch(() => undefined);
  return refuse("upstream_auth_failed", "The tool server refused the credential it was shown.", { reason: `${server.id} answered ${response.status}` });
}
