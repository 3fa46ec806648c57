import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { type Outbound, OutboundDenied, OutboundTimeout, wasConnected } from "../../runtime/outbound.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { secretsOf } from "../request-secrets.ts";

export interface AgentHttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Ends the exchange at any time. */
  readonly abort: AbortController;
  /** Longest wait for the answer's head, milliseconds. */
  readonly timeoutMs: number;
}

/** The way out to agents and to whoever is told of their tasks. Never throws for what the network or the other side did. */
export type AgentSend = (request: AgentHttpRequest) => Promise<Response | Refusal>;

export function agentSend(outbound: Outbound): AgentSend {
  return async ({ url, method, headers, body, abort, timeoutMs }) => {
    try {
      const all = { ...headers, "accept-encoding": "identity", "user-agent": "gatehouse" };
      const response = await outbound.fetch(url, { method, headers: all, abort, timeoutMs, ...(body === undefined ? {} : { body }) });
      return redactSecrets(response, secretsOf(headers));
    } catch (error) {
      if (error instanceof OutboundTimeout) return refuse("upstream_timeout", "The agent did not answer in time.");
      if (error instanceof OutboundDenied)
        return refuse("upstream_address_denied", "The agent's address is not allowed from this gateway.");
      if (wasConnected(error))
        return refuse("upstream_interrupted", "The agent broke off before it answered; it may have what it was sent.", {
          reason: reasonOf(error),
        });
      return refuse("upstream_unreachable", "The agent could not be reached.", { reason: reasonOf(error) });
    }
  };
}
