import type { UpstreamMessage } from "./upstream-messages.ts";

const MAX_WAITING = 16;

/**
 * Interleaves the messages of an exchange with those that its server sends on the session's own stream: a server does not
 * always send its requests on the stream of the request it is working on.
 */
export class MessageInterleaver {
  private readonly waiting: UpstreamMessage[] = [];
  private wake: () => void = () => undefined;

  /** Further messages of a server that sends faster than they can be answered are dropped. */
  readonly receive = (message: UpstreamMessage): void => {
    if (this.waiting.length >= MAX_WAITING) return;
    this.waiting.push(message);
    this.wake();
  };

  /** Resolves once a message waits. */
  arrived(): Promise<null> {
    if (this.waiting.length > 0) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.wake = () => resolve(null);
    });
  }

  async *interleave(messages: AsyncGenerator<UpstreamMessage, void>): AsyncGenerator<UpstreamMessage, void> {
    let pending: Promise<IteratorResult<UpstreamMessage, void>> | null = null;
    for (;;) {
      const heard = this.waiting.shift();
      if (heard !== undefined) {
        yield heard;
        continue;
      }
      pending ??= messages.next();
      const first: IteratorResult<UpstreamMessage, void> | null = await Promise.race([pending, this.arrived()]);
      if (first === null) continue;
      pending = null;
      if (first.done === true) return;
      yield first.value;
    }
  }
}
