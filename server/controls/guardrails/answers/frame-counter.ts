import type { Frame } from "../../../road/output/frames.ts";

/** Renumbers frames that carry a sequence number, so that the numbers keep increasing when frames are inserted. */
export class FrameCounter {
  private readonly member: string | null;
  private counted = -1;

  /** `member`: the sequence number's name; null if the format has none. */
  constructor(member: string | null) {
    this.member = member;
  }

  count(frames: Frame[]): Frame[] {
    const { member } = this;
    if (member === null) return frames;
    for (const frame of frames) {
      const count = frame.body?.[member];
      if (frame.body === null || typeof count !== "number") continue;
      if (count <= this.counted) {
        frame.body[member] = this.counted + 1;
        frame.changed = true;
      }
      this.counted = Math.max(count, this.counted + 1);
    }
    return frames;
  }
}
