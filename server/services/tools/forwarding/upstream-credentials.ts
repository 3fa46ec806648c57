import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { callerToken } from "../authorization/caller-token.ts";
import type { Call } from "../../../road/call.ts";

/** How the gateway shows itself, or the caller, to tool servers: the one place where a request's credential is chosen. */
export interface UpstreamCredentials {
  /** Headers for the requests of this call; a refusal when the caller has to do something first. */
  headersFor(call: Call, server: ToolServerEntry): Record<string, string> | Refusal | Promise<Record<string, string> | Refusal>;
  /**
   * What to answer when the server refuses what it was shown (401, 403); null passes the server's own answer on. Whoever refuses it lets
   * go of its body.
   */
  refused(call: Call, server: ToolServerEntry, response: Response): Refusal | null | Promise<Refusal | null>;
}

/** What stands on the server's record, and for `oauth` the token the caller itself sends. */
export const recordedCredentials: UpstreamCredentials = {
  headersFor(call, server): Record<string, string> {
    if (server.authType === "bearer" && server.credential !== null) return { authorization: `Bearer ${server.credential}` };
    if (server.authType !== "oauth") return {};
    // What is kept in the caller's name is shown on the way out. This also tells apart the callers who share a key.
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
