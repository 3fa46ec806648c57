import type { ModelEntry } from "../../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Provider } from "../../../upstreams/providers/provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import type { PreparedRequest, WholeAnswerReading } from "./model-request.ts";

/** A request in OpenAI's format with a whole answer; a refusal if the provider has no such operation. */
export function passedWhole(
  { traits }: Provider,
  { provider }: ModelEntry,
  operation: ProviderOperation,
  body: string,
  whole: (bytes: Uint8Array) => WholeAnswerReading | null,
): PreparedRequest | Refusal {
  if (traits.passes?.has(operation) !== true)
    return refuse("unsupported_parameter", `No ${operation} are served for providers of the format ${provider.apiFormat}.`);
  return sentWhole(operation, body, whole);
}

/** A request with a whole answer, which `whole` reads; errors of the provider pass unchanged. */
export function sentWhole(
  operation: ProviderOperation,
  body: string,
  whole: (bytes: Uint8Array) => WholeAnswerReading | null,
): PreparedRequest {
  return {
    operation,
    body,
    stream: false,
    sent: NOTHING_SENT,
    headers: {},
    streamCodec: () => null,
    streamType: null,
    whole,
    refusal: () => null,
    dropped: [],
  };
}
