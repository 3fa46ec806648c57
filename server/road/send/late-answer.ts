import type { Refusal } from "../../kernel/errors.ts";
import type { Answer } from "../answer.ts";
import type { Call } from "../call.ts";
import type { Govern } from "../govern.ts";
import type { Awaited, Exchange } from "../surface.ts";

/** An answer still pending when its caller must be told that the gateway is waiting for it. */
export interface LateAnswer {
  readonly kind: "late";
  readonly coming: Promise<Answer | Refusal>;
  readonly awaited: Awaited;
}

/** The longest silence allowed in a stream. Earlier failures get their own HTTP status; later ones become an error in the stream. */
const LATE_AFTER_MS = 15_000;

/** The result of the exchange, or a `LateAnswer` if an upstream was asked and has not answered within `lateAfterMs`. */
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
  const startClock = () => {
    // Whoever waits for something before an upstream is asked is looked at again.
    timer = setTimeout(() => (call.begun ? late.resolve(null) : startClock()), lateAfterMs);
  };
  const coming = govern(call, {
    ...exchange,
    // The clock starts only once every control has passed the request.
    answer: (asked) => {
      startClock();
      return exchange.answer(asked);
    },
  });
  const first = await Promise.race([coming, late.promise]).finally(() => clearTimeout(timer));
  return first ?? { kind: "late", coming, awaited };
}
