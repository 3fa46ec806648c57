import type { Asked } from "./exchange.ts";
import { cancelExchange } from "./server-exchange.ts";
import type { UpstreamMessage } from "./upstream-messages.ts";

/**
 * The next message, or "silent" once none came for `timeoutMs` and the exchange was cancelled. `excused` returns the moment
 * (`performance.now()`) up to which silence does not count.
 */
export async function withinSilence(
  exchange: Asked,
  timeoutMs: number,
  excused: () => number,
): Promise<IteratorResult<UpstreamMessage, void> | "silent"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const since = performance.now();
  const silence = new Promise<"silent">((resolve) => {
    const check = () => {
      const left = Math.max(since, excused()) + timeoutMs - performance.now();
      if (left > 0) timer = setTimeout(check, Math.min(left, timeoutMs));
      else resolve("silent");
    };
    timer = setTimeout(check, timeoutMs);
  });
  try {
    const message = exchange.messages.next();
    message.catch(() => undefined);
    const first = await Promise.race([message, silence]);
    if (first === "silent") {
      cancelExchange(exchange, "no answer came in time");
      exchange.abort.abort("upstream_timeout");
    }
    return first;
  } finally {
    clearTimeout(timer);
  }
}
