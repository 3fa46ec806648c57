import type { UpstreamMessage } from "./upstream-messages.ts";

const MAX_WAITING = 16;

/**
 * Interleaves the messages of an exchange with those from the session's notification stream, because servers do not always send their
 * requests on the stream of the request they are working on.
 */
export class MessageInterleaver {
  private readonly waiting: UpstreamMessage[] = [];
  private wake: () => void = () => undefined;

  /** Drops messages of a server that sends faster than they are handled. */
  readonly receive = (message: UpstreamMessage): void => {
    if (this.waiting.length >= MAX_WAITING) return;
    this.waiting.push(message);
    this.wake();
  };

  /** Resolves once a message is waiting. */
  arrived(): Promise<null> {
    if (this.waiting.length > 0) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.wake = () => resolve(null);
    });
  }

  async *interleave(messages: AsyncGenerator<UpstreamMessage, void>): AsyncGenerator<UpstreamMessage, void> {
    let pending: Promise<IteratorResult<UpstreamMessage, void>> | null = null;
    for (;;) {
      const nextMessage = this.waiting.shift();
      if (nextMessage !== undefined) {
        yield nextMessage;
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
