import type { Call } from "../road/call.ts";
import type { Surface } from "../road/surface.ts";

/** One path used by clients of two vendors: Anthropic's always send a version header, Google's never do. */
export function byVendor(anthropic: Surface, google: Surface): Surface {
  const of = (call: Call | null) => (call === null || call.headers.get("anthropic-version") === null ? google : anthropic);
  return {
    read: (call, body) => of(call).read(call, body),
    refusal: (refusal, call) => of(call).refusal(refusal, call),
    streamError: (refusal, call, last) => of(call).streamError(refusal, call, last),
  };
}
