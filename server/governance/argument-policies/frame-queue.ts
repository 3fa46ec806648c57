import type { Frame } from "../output/frames.ts";

interface Waiting {
  readonly frame: Frame;
  readonly groups: ReadonlySet<string>;
  /** It overtakes nothing that waits. */
  readonly inOrder: boolean;
  /** Nothing behind it may overtake it. */
  readonly barrier: boolean;
}

/** Bytes of frames that may wait in one stream. */
const MOST_HELD_BYTES = 8 * 1024 * 1024;

/**
 * Frames that open the next item or end the answer: clients count items as they come, so these stay behind every frame
 * that waits.
 */
const IN_ORDER: ReadonlySet<unknown> = new Set(["response.output_item.added", "content_block_start", "message_delta"]);

/**
 * The frames of a stream that wait for a group of calls. Frames of one group keep their order; a frame of no group
 * passes the waiting ones unless the order of items forbids it.
 */
export class FrameQueue {
  private readonly counter: string | null;
  private waiting: Waiting[] = [];
  private bytes = 0;
  private counted = -1;
  /** Frames go out under other numbers than they came with. */
  private renumbered = false;

  /** `counter`: the member that numbers frames, where there is one. */
  constructor(counter: string | null) {
    this.counter = counter;
  }

  get idle(): boolean {
    return this.waiting.length === 0 && !this.renumbered;
  }

  get overfull(): boolean {
    return this.bytes > MOST_HELD_BYTES;
  }

  push(frame: Frame, groups: ReadonlySet<string>, barrier: boolean): void {
    this.bytes += frame.bytes.byteLength;
    this.waiting.push({ frame, groups, inOrder: IN_ORDER.has(frame.body?.type), barrier });
  }

  /** Takes out what need not wait any longer, in the order it came. */
  flush(held: (group: string) => boolean): Frame[] {
    const free: Frame[] = [];
    const kept: Waiting[] = [];
    const behind = new Set<string>();
    let stopped = false;
    for (const entry of this.waiting) {
      const grouped = [...entry.groups].some((group) => behind.has(group) || held(group));
      const queued = entry.inOrder && kept.length > 0;
      if (!stopped && !grouped && !queued) {
        this.bytes -= entry.frame.bytes.byteLength;
        free.push(this.numbered(entry.frame));
        continue;
      }
      kept.push(entry);
      for (const group of entry.groups) behind.add(group);
      // What belongs to an item that is not open yet must wait with it; a call's own frames do so by their group.
      stopped ||= entry.barrier || (queued && !grouped);
    }
    this.waiting = kept;
    return free;
  }

  drop(): void {
    this.waiting = [];
    this.bytes = 0;
  }

  /** Frames that waited were overtaken: numbers still only grow. */
  private numbered(frame: Frame): Frame {
    if (this.counter === null || frame.body === null) return frame;
    const number = frame.body[this.counter];
    if (typeof number !== "number") return frame;
    if (number <= this.counted) {
      frame.body[this.counter] = this.counted + 1;
      frame.changed = true;
      this.renumbered = true;
    }
    this.counted = Math.max(number, this.counted + 1);
    return frame;
  }
}
