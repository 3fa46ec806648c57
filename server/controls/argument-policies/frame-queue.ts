import type { Frame } from "../../road/output/frames.ts";

interface Waiting {
  readonly frame: Frame;
  readonly groups: ReadonlySet<string>;
  /** Must not overtake waiting frames. */
  readonly inOrder: boolean;
  /** Must not be overtaken by later frames. */
  readonly barrier: boolean;
}

/** Bytes of frames that may wait in one stream, and the overhead counted per frame. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;
const FRAME_BYTES = 128;

/** Frames that open the next item or end the answer. They stay behind all waiting frames, because clients count items in order. */
const IN_ORDER: ReadonlySet<unknown> = new Set(["response.output_item.added", "content_block_start", "message_delta"]);

/**
 * Frames of a stream that wait for a group of calls. Frames of a group keep their order; a frame without a group
 * passes the waiting ones unless the order of items forbids it.
 */
export class FrameQueue {
  private readonly counter: string | null;
  private readonly held: (group: string) => boolean;
  private waiting: Waiting[] = [];
  /** Groups of the waiting frames. */
  private behind = new Set<string>();
  /** Whether nothing may pass the waiting frames. */
  private stopped = false;
  private bytes = 0;
  private counted = -1;
  /** Whether frames are sent with other sequence numbers than they arrived with. */
  private renumbered = false;

  /** `counter`: the member with a frame's sequence number, if there is one. `held`: whether a group must wait. */
  constructor(counter: string | null, held: (group: string) => boolean) {
    this.counter = counter;
    this.held = held;
  }

  get idle(): boolean {
    return this.waiting.length === 0 && !this.renumbered;
  }

  get overfull(): boolean {
    return this.bytes > MAX_HELD_BYTES;
  }

  /** Returns the frame if it may be sent now; nothing if it has to wait. */
  pass(frame: Frame, groups: ReadonlySet<string>, barrier: boolean): Frame[] {
    return this.admit({ frame, groups, inOrder: IN_ORDER.has(frame.body?.type), barrier });
  }

  /** Returns the frames that need not wait any longer, in order. Call it when a group is no longer held; it checks every frame. */
  release(): Frame[] {
    const all = this.waiting;
    this.drop();
    return all.flatMap((entry) => this.admit(entry));
  }

  drop(): void {
    this.waiting = [];
    this.behind = new Set();
    this.stopped = false;
    this.bytes = 0;
  }

  private admit(entry: Waiting): Frame[] {
    const { frame, groups, inOrder, barrier } = entry;
    const grouped = [...groups].some((group) => this.behind.has(group) || this.held(group));
    const queued = inOrder && this.waiting.length > 0;
    if (!this.stopped && !grouped && !queued) return [this.numbered(frame)];
    // A parsed frame takes ten times its bytes and is needed again only for renumbering, so drop it otherwise.
    const unread = this.counter === null && !frame.changed;
    this.waiting.push(unread ? { ...entry, frame: { ...frame, body: null } } : entry);
    this.bytes += frame.bytes.byteLength + FRAME_BYTES;
    for (const group of groups) this.behind.add(group);
    // Frames of an item that is not open yet must wait with it; a call's own frames do so through their group.
    this.stopped ||= barrier || (queued && !grouped);
    return [];
  }

  /** Renumbers a frame that is sent after later ones, so that sequence numbers still increase. */
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
