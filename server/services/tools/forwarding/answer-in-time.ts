import { type Refusal, refuse } from "../../../kernel/errors.ts";

/** What a server is waited for, unless it takes longer than that: then what goes on with it is broken off. */
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
