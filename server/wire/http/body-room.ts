import { type OnRoster, Roster } from "../../kernel/collections/roster.ts";

/** An incomplete body that occupies memory. */
export interface HeldBody extends OnRoster {
  readonly sender: string;
  /** Bytes received so far, or the full size if the body is read in one call. */
  bytes: number;
  /** When its last bytes arrived. */
  heard: number;
  giveUp(why: "too_slow" | "too_many"): void;
}

/** The fraction to which an overfull room is emptied, so that not every chunk triggers a search for bodies to give up. */
const EMPTIED_TO = 0.9;

/** The memory shared by incomplete bodies. */
export class BodyRoom<T extends HeldBody> {
  private readonly bodies = new Roster<T>();
  private readonly bySender = new Map<string, number>();
  private readonly mostBytes: number;
  private bytes = 0;

  constructor(mostBytes: number) {
    this.mostBytes = mostBytes;
  }

  add(body: T): void {
    this.bodies.add(body);
  }

  has(body: T): boolean {
    return this.bodies.has(body);
  }

  all(): T[] {
    return this.bodies.all();
  }

  took(body: T, bytes: number): void {
    body.bytes += bytes;
    this.count(body.sender, bytes);
    if (this.bytes > this.mostBytes) this.makeRoom();
  }

  release(body: T): void {
    this.bodies.delete(body);
    this.count(body.sender, -body.bytes);
    body.bytes = 0;
  }

  giveUp(body: T, why: "too_slow" | "too_many"): void {
    this.release(body);
    body.giveUp(why);
  }

  private count(sender: string, bytes: number): void {
    this.bytes += bytes;
    const held = (this.bySender.get(sender) ?? 0) + bytes;
    if (held === 0) this.bySender.delete(sender);
    else this.bySender.set(sender, held);
  }

  /** Gives up bodies of the sender holding most, starting with the one idle longest. */
  private makeRoom(): void {
    const longestSilent = this.all()
      .filter(({ bytes }) => bytes > 0)
      .toSorted((a, b) => a.heard - b.heard);
    const ofSender = Map.groupBy(longestSilent, ({ sender }) => sender);
    while (this.bytes > this.mostBytes * EMPTIED_TO) {
      const [most] = [...this.bySender].reduce((a, b) => (b[1] > a[1] ? b : a));
      const body = ofSender.get(most)?.shift();
      if (body === undefined) return;
      this.giveUp(body, "too_many");
    }
  }
}
