import { PATIENCE_MS } from "./patience.ts";

/**
 * The pause before something is looked for again. Each look costs processor time of the gateway and the database, so the longer something
 * takes, the less often it is looked for. `begun`: when it was first looked for.
 */
export const nextLook = (begun: number): Promise<void> => Bun.sleep(Math.min(100, Math.max(20, (Date.now() - begun) / 10)));

/**
 * Polls `read` until `reached` accepts its value, or by default until the value is truthy, and resolves to it. Throws after the longest
 * wait allowed.
 */
export async function until<T>(read: () => Promise<T> | T): Promise<Exclude<T, undefined | null | false>>;
export async function until<T>(read: () => Promise<T> | T, reached: (value: T) => boolean): Promise<T>;
export async function until<T>(read: () => Promise<T> | T, reached: (value: T) => boolean = Boolean): Promise<T> {
  return polled(read, reached, nextLook);
}

/** Like `until`, for states that soon pass. */
export async function promptly<T>(read: () => Promise<T> | T, reached: (value: T) => boolean = Boolean): Promise<T> {
  return polled(read, reached, () => Bun.sleep(20));
}

async function polled<T>(read: () => Promise<T> | T, reached: (value: T) => boolean, pause: (begun: number) => Promise<void>): Promise<T> {
  let last: T | undefined;
  for (const begun = Date.now(); Date.now() < begun + PATIENCE_MS; await pause(begun)) {
    last = await read();
    if (reached(last)) return last;
  }
  throw new Error(`it never came to that: ${JSON.stringify(last)}`);
}

/** Resolves when each process serves the model: a change reaches the other processes within a second. */
export async function servedBy(fleet: readonly { readonly runtimeUrl: string }[], model: string, apiKey: string): Promise<void> {
  for (const { runtimeUrl } of fleet)
    await until(
      () => fetch(`${runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": apiKey } }).then((reply) => reply.text()),
      (text) => text.includes(JSON.stringify(model)),
    );
}

/** The smallest result of several tries, because a single one means little on a busy machine. Stops at the first below `enough`. */
export async function leastOf(tries: number, enough: number, attempt: () => Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let n = 0; n < tries && least >= enough; n++) least = Math.min(least, await attempt());
  return least;
}
