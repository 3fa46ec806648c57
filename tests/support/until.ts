import { PATIENCE_MS } from "./patience.ts";

/** What is read, as soon as it has come to that. */
export async function until<T>(read: () => Promise<T>, reached: (value: T) => boolean): Promise<T> {
  let last: T | undefined;
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await Bun.sleep(20)) {
    last = await read();
    if (reached(last)) return last;
  }
  throw new Error(`it never came to that: ${JSON.stringify(last)}`);
}
