import type { JsonObject } from "../../kernel/json-value.ts";

const encoder = new TextEncoder();

/** A response that the provider works on, as a stream of its events. */
export class RunningResponse {
  readonly stream: ReadableStream<Uint8Array>;
  /** The gateway's IDs of the events that asked for it; the last is that of `response.create`. */
  readonly asked: readonly string[];
  readonly itemIds = new Set<string>();
  /** Null until the provider created it. */
  id: string | null = null;
  /** Whether nobody reads its events any more. */
  left = false;
  private events!: ReadableStreamDefaultController<Uint8Array>;
  private readonly maxUnreadBytes: number;
  private readonly leave: () => void;

  /** `leave` is called when nobody reads its events any more, before `left` is set. */
  constructor(asked: readonly string[], maxUnreadBytes: number, leave: () => void) {
    this.asked = asked;
    this.maxUnreadBytes = maxUnreadBytes;
    this.leave = leave;
    const source = { start: (controller: ReadableStreamDefaultController<Uint8Array>) => void (this.events = controller), cancel: leave };
    this.stream = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: 0 }));
  }

  give(event: JsonObject): void {
    if (this.left) return;
    this.events.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
    if (-(this.events.desiredSize ?? 0) > this.maxUnreadBytes) this.fail("more unread events than the gateway holds");
  }

  end(): void {
    this.events.close();
  }

  fail(reason: string): void {
    if (this.left) return;
    this.events.error(new Error(reason));
    this.leave();
  }
}
