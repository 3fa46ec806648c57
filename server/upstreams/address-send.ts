import { reasonOf, type Refusal, refuse } from "../kernel/errors.ts";
import { OutboundDenied } from "../runtime/destinations.ts";
import { isUnreadable, type Outbound, OutboundTimeout, wasConnected } from "../runtime/outbound.ts";
import { redactSecrets } from "./redact-secrets.ts";
import { secretsOf } from "./request-secrets.ts";

export interface AddressRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the exchange at any time. */
  readonly abort: AbortController;
  /** Longest wait for the response head, milliseconds. */
  readonly timeoutMs: number;
}

export type AddressSend = (request: AddressRequest) => Promise<Response | Refusal>;

/**
 * Sends requests to addresses from our records. `who` begins the messages of failures, such as "The agent". Never throws for network errors
 * or anything the other side did; returns a refusal instead.
 */
export function addressSend(outbound: Outbound, who: string): AddressSend {
  return async ({ url, method, headers, body, abort, timeoutMs }) => {
    try {
      // The answer is passed on as bytes, so compression would only have to be undone.
      const all = { ...headers, "accept-encoding": "identity", "user-agent": "gatehouse" };
      const response = await outbound.fetch(url, { method, headers: all, abort, timeoutMs, ...(body === undefined ? {} : { body }) });
      return redactSecrets(response, secretsOf(headers));
    } catch (error) {
      if (error instanceof OutboundTimeout) return refuse("upstream_timeout", `${who} did not answer in time.`);
      if (error instanceof OutboundDenied) return refuse("upstream_address_denied", `${who}'s address is not allowed from this gateway.`);
      if (wasConnected(error))
        return refuse("upstream_interrupted", `${who} broke off before it answered; it may have what it was sent.`, {
          reason: reasonOf(error),
        });
      if (isUnreadable(error))
        return refuse("upstream_invalid_response", `${who} gave an answer that is not valid HTTP.`, { reason: reasonOf(error) });
      return refuse("upstream_unreachable", `${who} could not be reached.`, { reason: reasonOf(error) });
    }
  };
}
