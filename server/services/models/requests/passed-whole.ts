import type { ModelEntry } from "../../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Provider } from "../../../upstreams/providers/provider.ts";
import type { ProviderOperation } from "../../../wire/operation.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import type { PreparedRequest, WholeAnswerReading } from "./model-request.ts";

/** A request that a provider takes in the shape of OpenAI's API and answers whole; a refusal where it has no such operation. */
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

/** A request that is answered whole, in the shape that `whole` gives it; an error of the provider is told as it is. */
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
