import type { UpstreamMessage } from "./upstream-messages.ts";

const MOST_WAITING = 16;

/**
 * The messages of an exchange, and between them those that its server sends to the session instead: what a server asks
 * while it works on a request, it does not always ask on that request's own stream.
 */
export class Aside {
  private readonly waiting: UpstreamMessage[] = [];
  private wake: () => void = () => undefined;

  /** A server that asks faster than anybody can answer is not listened to. */
  readonly hear = (message: UpstreamMessage): void => {
    if (this.waiting.length >= MOST_WAITING) return;
    this.waiting.push(message);
    this.wake();
  };

  async *between(messages: AsyncGenerator<UpstreamMessage, void>): AsyncGenerator<UpstreamMessage, void> {
    let pending: Promise<IteratorResult<UpstreamMessage, void>> | null = null;
    for (;;) {
      const heard = this.waiting.shift();
      if (heard !== undefined) {
        yield heard;
        continue;
      }
      pending ??= messages.next();
      const arrived = new Promise<null>((resolve) => {
        this.wake = () => resolve(null);
      });
      const first: IteratorResult<UpstreamMessage, void> | null = await Promise.race([pending, arrived]);
      if (first === null) continue;
      pending = null;
      if (first.done === true) return;
      yield first.value;
    }
  }
}
