import { type Refusal, refuse } from "../../../kernel/errors.ts";

/** Waits for a server's answer up to `timeoutMs`, then aborts the exchange and resolves to a refusal. */
export async function answerInTime<T>(answer: Promise<T>, timeoutMs: number, abort: AbortController): Promise<T | Refusal> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Refusal>((resolve) => {
    timer = setTimeout(() => {
      resolve(refuse("upstream_timeout", "The tool server did not answer in time."));
      abort.abort("upstream_timeout");
    }, timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
