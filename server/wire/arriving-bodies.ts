import { type OnRoster, Roster } from "../kernel/roster.ts";
import { concat } from "./adjoining-bytes.ts";

export type NotArrived = "too_large" | "too_slow" | "too_many";

interface Waiting extends OnRoster {
  readonly sender: string;
  /** What has come of it; of one that is read at one go what it will have. */
  bytes: number;
  readonly began: number;
  /** When something of it came last. */
  heard: number;
  giveUp(why: NotArrived): void;
}

export interface BodyPatience {
  /** Longest silence of a sender. */
  readonly idleMs: number;
  /** Longest time a body may take however much comes. */
  readonly wholeMs: number;
  /** Bodies that strangers of one address may keep waiting for at once. */
  readonly mostOfAPlace: number;
  /** What all bodies that have not come whole may hold of the memory. */
  readonly mostBytes: number;
}

const PATIENCE: BodyPatience = { idleMs: 30_000, wholeMs: 600_000, mostOfAPlace: 256, mostBytes: Number.POSITIVE_INFINITY };
/** Bodies up to so many bytes are read at one go; how long that may take is how long a sender may be silent. */
const AT_ONE_GO = 64 * 1024;

/**
 * Reads bodies of requests, and gives up those that do not come: the server's own idle time does not see what arrives of
 * a body, and whoever only begins to send one would else keep a connection for good.
 */
export class ArrivingBodies {
  private readonly waiting = new Roster<Waiting>();
  private readonly places = new Map<string, number>();
  private readonly patience: BodyPatience;
  private watch: ReturnType<typeof setInterval> | null = null;
  private bytes = 0;

  constructor(patience: Partial<BodyPatience> = {}) {
    this.patience = { ...PATIENCE, ...patience };
  }

  /**
   * `place`: where a sender is whom nobody knows yet; null of a known one. `sender`: whose bodies are given up first where
   * theirs hold most. Rejects when the body breaks off.
   */
  async read(request: Request, maxBytes: number, place: string | null, sender = place ?? ""): Promise<Uint8Array | NotArrived> {
    const declared = request.headers.get("content-length");
    if (declared !== null && Number(declared) > maxBytes) return "too_large";
    if (place === null) return this.wait(request, maxBytes, declared, sender);
    const there = this.places.get(place) ?? 0;
    if (there >= this.patience.mostOfAPlace) return "too_many";
    this.places.set(place, there + 1);
    try {
      return await this.wait(request, maxBytes, declared, sender);
    } finally {
      const left = (this.places.get(place) ?? 1) - 1;
      if (left === 0) this.places.delete(place);
      else this.places.set(place, left);
    }
  }

  private wait(request: Request, maxBytes: number, declared: string | null, sender: string): Promise<Uint8Array | NotArrived> {
    const whole = declared !== null && Number(declared) <= AT_ONE_GO;
    const body = whole ? null : request.body;
    if (!whole && body === null) return Promise.resolve(new Uint8Array(0));
    this.watch ??= setInterval(() => this.giveUpLate(), Math.min(1_000, this.patience.idleMs / 4)).unref();
    return new Promise((resolve, reject) => {
      const now = performance.now();
      const reader = body?.getReader();
      const entry: Waiting = {
        place: -1,
        sender,
        bytes: 0,
        began: now,
        heard: now,
        giveUp(why) {
          resolve(why);
          reader?.cancel().catch(() => undefined);
        },
      };
      this.waiting.add(entry);
      if (whole) this.took(entry, Number(declared));
      const read =
        reader === undefined ? request.arrayBuffer().then((bytes) => new Uint8Array(bytes)) : this.pieces(reader, maxBytes, entry);
      read.then(resolve, reject).finally(() => this.release(entry));
    });
  }

  private async pieces(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    maxBytes: number,
    entry: Waiting,
  ): Promise<Uint8Array | NotArrived> {
    const parts: Uint8Array[] = [];
    let total = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (!this.waiting.has(entry)) return "too_slow";
      if (done) return concat(parts, total);
      entry.heard = performance.now();
      total += value.byteLength;
      if (total > maxBytes) {
        reader.cancel().catch(() => undefined);
        return "too_large";
      }
      parts.push(value);
      this.took(entry, value.byteLength);
    }
  }

  private took(entry: Waiting, bytes: number): void {
    entry.bytes += bytes;
    this.bytes += bytes;
    if (this.bytes > this.patience.mostBytes) this.makeRoom();
  }

  private release(entry: Waiting): void {
    this.waiting.delete(entry);
    this.bytes -= entry.bytes;
    entry.bytes = 0;
  }

  private giveUp(entry: Waiting, why: NotArrived): void {
    this.release(entry);
    entry.giveUp(why);
  }

  /** Of the sender whose bodies hold most, those go first of which nothing has come for longest. */
  private makeRoom(): void {
    const bySender = Map.groupBy(this.waiting.all(), ({ sender }) => sender);
    const held = (entries: readonly Waiting[]) => entries.reduce((sum, { bytes }) => sum + bytes, 0);
    const [theirs = []] = [...bySender.values()].toSorted((a, b) => held(b) - held(a));
    for (const entry of theirs.toSorted((a, b) => a.heard - b.heard)) {
      if (this.bytes <= this.patience.mostBytes) return;
      if (entry.bytes > 0) this.giveUp(entry, "too_many");
    }
  }

  private giveUpLate(): void {
    const now = performance.now();
    for (const entry of this.waiting.all()) {
      if (now - entry.heard < this.patience.idleMs && now - entry.began < this.patience.wholeMs) continue;
      this.giveUp(entry, "too_slow");
    }
  }
}
