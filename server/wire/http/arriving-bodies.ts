import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { concat } from "../streams/adjoining-bytes.ts";
import { BodyRoom, type HeldBody } from "./body-room.ts";

export type NotArrived = "too_large" | "too_slow" | "too_many";

interface Waiting extends HeldBody {
  readonly began: number;
}

export interface BodyPatience {
  /** Longest silence of a sender. */
  readonly idleMs: number;
  /** Longest time a body may take however much comes. */
  readonly wholeMs: number;
  /** Bodies that strangers of one address may keep waiting for at once. */
  readonly mostOfAPlace: number;
  /** What bodies of known senders that have not come whole may hold of the memory; those of strangers may hold a part of that beside it. */
  readonly mostBytes: number;
}

const PATIENCE: BodyPatience = { idleMs: 30_000, wholeMs: 600_000, mostOfAPlace: 256, mostBytes: Number.POSITIVE_INFINITY };
/** Bodies up to so many bytes are read at one go; how long that may take is how long a sender may be silent. */
const AT_ONE_GO = 64 * 1024;
/** Whoever opens bodies from many addresses must not be able to push out those of known senders. */
const SHARE_OF_STRANGERS = 1 / 8;

/**
 * Reads bodies of requests, and gives up those that do not come: the server's own idle time does not see what arrives of
 * a body, and whoever only begins to send one would else keep a connection for good.
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
   * `place`: where a sender is whom nobody knows yet; null of a known one, who is `sender`. Bodies of the place or sender whose
   * bodies hold most are given up first. Rejects when the body breaks off.
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
          void cancelQuietly(reader);
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
        void cancelQuietly(reader);
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
