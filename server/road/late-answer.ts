import type { Refusal } from "../kernel/errors.ts";
import type { Answer } from "./answer.ts";
import type { Call } from "./call.ts";
import type { Govern } from "./govern.ts";
import type { Awaited, Exchange } from "./surface.ts";

/** An answer that is not there yet, and whose caller has to be told that it is waited for. */
export interface LateAnswer {
  readonly kind: "late";
  readonly coming: Promise<Answer | Refusal>;
  readonly awaited: Awaited;
}

/** As long as a stream that has begun may be silent. What fails before has a status of its own; what fails later, an error in the stream. */
const LATE_AFTER_MS = 15_000;

/** What became of the exchange, or that it has not become anything yet. An upstream was asked in either case of the second. */
export async function answeredOrLate(
  call: Call,
  exchange: Exchange,
  govern: Govern,
  lateAfterMs: number = LATE_AFTER_MS,
): Promise<Answer | Refusal | LateAnswer> {
  const { awaited } = exchange;
  if (awaited === undefined) return govern(call, exchange);
  const late = Promise.withResolvers<null>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const coming = govern(call, {
    ...exchange,
    // Nothing is said before every control let the request pass.
    answer: (asked) => {
      timer = setTimeout(late.resolve, lateAfterMs, null);
      return exchange.answer(asked);
    },
  });
  const first = await Promise.race([coming, late.promise]).finally(() => clearTimeout(timer));
  if (first !== null) return first;
  return call.begun ? { kind: "late", coming, awaited } : coming;
}
