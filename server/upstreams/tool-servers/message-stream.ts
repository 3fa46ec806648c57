/** Most unread bytes of a stream before it is aborted, because other streams share its connection. */
const MAX_WAITING = 16 * 1024 * 1024;

/** Part of a connection's messages as a stream with one reader, who may leave at any time. */
export class MessageStream {
  readonly body: ReadableStream<Uint8Array>;
  private controller!: ReadableStreamController<Uint8Array>;
  private open = true;
  private readonly signal: AbortSignal;
  private readonly hungUp = () => this.fail(this.signal.reason);
  private readonly left: () => void;

  /**
   * Fails when `signal` is aborted. `left` is called exactly once, never before the constructor returns, when nothing more can be written:
   * the stream has ended or failed, or its reader is gone.
   */
  constructor(signal: AbortSignal, left: () => void) {
    this.signal = signal;
    this.left = left;
    if (signal.aborted) queueMicrotask(this.hungUp);
    else signal.addEventListener("abort", this.hungUp, { once: true });
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller = controller;
        },
        cancel: () => void this.close(),
      },
      { highWaterMark: MAX_WAITING, size: (frame) => frame?.byteLength ?? 0 },
    );
  }

  push(frame: Uint8Array): void {
    if (!this.open) return;
    if ((this.controller.desiredSize ?? 0) <= 0) this.fail(new Error("the reader did not keep up with the tool server"));
    else this.controller.enqueue(frame as Uint8Array<ArrayBuffer>);
  }

  end(): void {
    if (this.close()) this.controller.close();
  }

  fail(reason: unknown): void {
    if (this.close()) this.controller.error(reason);
  }

  private close(): boolean {
    if (!this.open) return false;
    this.open = false;
    this.signal.removeEventListener("abort", this.hungUp);
    this.left();
    return true;
  }
}
