import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { callerToken } from "../authorization/caller-token.ts";
import type { Call } from "../../../road/call.ts";

/** Chooses the credential for requests to tool servers: the gateway's or the caller's. No other place does. */
export interface UpstreamCredentials {
  /** Headers for this call's requests; a refusal if the caller has to do something first. */
  headersFor(call: Call, server: ToolServerEntry): Record<string, string> | Refusal | Promise<Record<string, string> | Refusal>;
  /**
   * Called when the server rejects the credential (401, 403). Returns the refusal for the caller, or null to pass the server's answer on;
   * an implementation that returns a refusal must cancel the response body.
   */
  refused(call: Call, server: ToolServerEntry, response: Response): Refusal | null | Promise<Refusal | null>;
}

/** The credential from the server's record; for `oauth`, the caller's own token. */
export const recordedCredentials: UpstreamCredentials = {
  headersFor(call, server): Record<string, string> {
    if (server.authType === "bearer" && server.credential !== null) return { authorization: `Bearer ${server.credential}` };
    if (server.authType !== "oauth") return {};
    // Stored tokens are added by `authorizedSend`. The own token is added here as well, to distinguish callers who share a key.
    const own = callerToken(server, call);
    return own === null ? {} : { authorization: `Bearer ${own}` };
  },
  refused(_call, server, response) {
    void cancelQuietly(response.body);
    return refuse("upstream_auth_failed", "The tool server refused the credential it was shown.", {
      reason: `${server.id} answered ${response.status}`,
    });
  },
};

export function refusesCredential({ status }: Response): boolean {
  return status === 401 || status === 403;
}
