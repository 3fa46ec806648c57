import { reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import { redactSecrets } from "../redact-secrets.ts";
import { secretsOf } from "../request-secrets.ts";
import { type Outbound, OutboundDenied, OutboundTimeout, wasConnected } from "../../runtime/outbound.ts";

export interface ToolServerRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the exchange at any time. */
  readonly abort: AbortController;
  /** Longest wait for the answer's head, milliseconds. */
  readonly timeoutMs: number;
  /** Whose request it is, where it is made for one of several. */
  readonly tenantId?: string | undefined;
}

/** The way out to tool servers. Never throws for what the network or the server did. */
export type ToolServerSend = (request: ToolServerRequest) => Promise<Response | Refusal>;

export function toolServerSend(outbound: Outbound): ToolServerSend {
  return async ({ url, method, headers, body, abort, timeoutMs }) => {
    try {
      // The answer is passed on as bytes; packing it would only have to be undone.
      const all = { ...headers, "accept-encoding": "identity", "user-agent": "gatehouse" };
      const response = await outbound.fetch(url, { method, headers: all, abort, timeoutMs, ...(body === undefined ? {} : { body }) });
      return redactSecrets(response, secretsOf(headers));
    } catch (error) {
      if (error instanceof OutboundTimeout) return refuse("upstream_timeout", "The tool server did not answer in time.");
      if (error instanceof OutboundDenied)
        return refuse("upstream_address_denied", "The tool server's address is not allowed from this gateway.");
      if (wasConnected(error))
        return refuse("upstream_interrupted", "The tool server broke off before it answered; it may have what it was sent.", {
          reason: reasonOf(error),
        });
      return refuse("upstream_unreachable", "The tool server could not be reached.", { reason: reasonOf(error) });
    }
  };
}
