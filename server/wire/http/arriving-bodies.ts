import { concat } from "../streams/adjoining-bytes.ts";
import { BodyRoom, type HeldBody } from "./body-room.ts";

export type NotArrived = "too_large" | "too_slow" | "too_many";

interface Waiting extends HeldBody {
  readonly began: number;
}

export interface BodyPatience {
  /** Maximum time without new bytes. */
  readonly idleMs: number;
  /** Maximum total time for one body. */
  readonly wholeMs: number;
  /** Maximum number of simultaneously incomplete bodies per address, for senders without a known credential. */
  readonly mostOfAPlace: number;
  /** Memory for incomplete bodies of known senders; unknown senders share an additional fraction of it. */
  readonly mostBytes: number;
}

const PATIENCE: BodyPatience = { idleMs: 30_000, wholeMs: 600_000, mostOfAPlace: 256, mostBytes: Number.POSITIVE_INFINITY };
/** Bodies up to this size are read in one call, which must finish within the idle timeout. */
const AT_ONE_GO = 64 * 1024;
/** Unknown senders, even from many addresses, must not displace the bodies of known ones. */
const SHARE_OF_STRANGERS = 1 / 8;

/**
 * Reads request bodies and gives up those that stall. The server's own idle timeout does not watch the progress of a body,
 * so an unfinished upload would otherwise keep its connection forever.
 */
export class ArrivingBodies {
  private readonly known: BodyRoom<Waiting>;
  private readonly strangers: BodyRoom<Waiting>;
  private readonly places = new Map<string, number>();
  private readonly patience: BodyPatience;
  private watch: ReturnType<typeof setInterval> | null = null;

  constructor(patience: Partial<BodyPatience> = {}) {
    this.patience = { ...PATIENCE, ...patience };
    this.known = new BodyRoom(this.patience.mostBytes);
    this.strangers = new BodyRoom(this.patience.mostBytes * SHARE_OF_STRANGERS);
  }

  /**
   * `place` is the address of an unknown sender; null for a known one, identified by `sender`. If memory runs out, bodies
   * of the place or sender holding most are given up first. Rejects if the connection breaks.
   */
  async read(request: Request, maxBytes: number, place: string | null, sender = ""): Promise<Uint8Array | NotArrived> {
    const declared = request.headers.get("content-length");
    if (declared !== null && Number(declared) > maxBytes) return "too_large";
    if (place === null) return this.wait(request, maxBytes, declared, sender, this.known);
    const there = this.places.get(place) ?? 0;
    if (there >= this.patience.mostOfAPlace) return "too_many";
    this.places.set(place, there + 1);
    try {
      return await this.wait(request, maxBytes, declared, place, this.strangers);
    } finally {
      const left = (this.places.get(place) ?? 1) - 1;
      if (left === 0) this.places.delete(place);
      else this.places.set(place, left);
    }
  }

  private wait(
    request: Request,
    maxBytes: number,
    declared: string | null,
    sender: string,
    room: BodyRoom<Waiting>,
  ): Promise<Uint8Array | NotArrived> {
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
          reader?.releaseLock();
        },
      };
      room.add(entry);
      if (whole) room.took(entry, Number(declared));
      const read =
        reader === undefined ? request.arrayBuffer().then((bytes) => new Uint8Array(bytes)) : this.pieces(reader, maxBytes, entry, room);
      read.then(resolve, reject).finally(() => room.release(entry));
    });
  }

  private async pieces(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    maxBytes: number,
    entry: Waiting,
    room: BodyRoom<Waiting>,
  ): Promise<Uint8Array | NotArrived> {
    const parts: Uint8Array[] = [];
    let total = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (!room.has(entry)) return "too_slow";
      if (done) return concat(parts, total);
      entry.heard = performance.now();
      total += value.byteLength;
      if (total > maxBytes) {
        reader.releaseLock();
        return "too_large";
      }
      parts.push(value);
      room.took(entry, value.byteLength);
    }
  }

  private giveUpLate(): void {
    const now = performance.now();
    for (const room of [this.known, this.strangers]) {
      for (const entry of room.all()) {
        if (now - entry.heard < this.patience.idleMs && now - entry.began < this.patience.wholeMs) continue;
        room.giveUp(entry, "too_slow");
      }
    }
  }
}
