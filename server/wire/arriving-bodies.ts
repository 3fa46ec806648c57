import { type OnRoster, Roster } from "../kernel/roster.ts";
import { concat } from "./adjoining-bytes.ts";

export type NotArrived = "too_large" | "too_slow" | "too_many";

interface Waiting extends OnRoster {
  readonly began: number;
  /** When something of it came last. */
  heard: number;
  giveUp(): void;
}

export interface BodyPatience {
  /** Longest silence of a sender. */
  readonly idleMs: number;
  /** Longest time a body may take however much comes. */
  readonly wholeMs: number;
  /** Bodies that strangers of one address may keep waiting for at once. */
  readonly mostOfAPlace: number;
}

const PATIENCE: BodyPatience = { idleMs: 30_000, wholeMs: 600_000, mostOfAPlace: 256 };
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

  constructor(patience: BodyPatience = PATIENCE) {
    this.patience = patience;
  }

  /** `place`: where a sender is whom nobody knows yet; null of a known one. Rejects when the body breaks off. */
  async read(request: Request, maxBytes: number, place: string | null): Promise<Uint8Array | NotArrived> {
    const declared = request.headers.get("content-length");
    if (declared !== null && Number(declared) > maxBytes) return "too_large";
    if (place === null) return this.wait(request, maxBytes, declared);
    const there = this.places.get(place) ?? 0;
    if (there >= this.patience.mostOfAPlace) return "too_many";
    this.places.set(place, there + 1);
    try {
      return await this.wait(request, maxBytes, declared);
    } finally {
      const left = (this.places.get(place) ?? 1) - 1;
      if (left === 0) this.places.delete(place);
      else this.places.set(place, left);
    }
  }

  private wait(request: Request, maxBytes: number, declared: string | null): Promise<Uint8Array | NotArrived> {
    const whole = declared !== null && Number(declared) <= AT_ONE_GO;
    const body = whole ? null : request.body;
    if (!whole && body === null) return Promise.resolve(new Uint8Array(0));
    this.watch ??= setInterval(() => this.giveUpLate(), Math.min(1_000, this.patience.idleMs / 4)).unref();
    return new Promise((resolve, reject) => {
      const now = performance.now();
      const reader = body?.getReader();
      const entry: Waiting = {
        place: -1,
        began: now,
        heard: now,
        giveUp() {
          resolve("too_slow");
          reader?.cancel().catch(() => undefined);
        },
      };
      this.waiting.add(entry);
      const read = reader === undefined ? request.arrayBuffer().then((bytes) => new Uint8Array(bytes)) : pieces(reader, maxBytes, entry);
      read.then(resolve, reject).finally(() => this.waiting.delete(entry));
    });
  }

  private giveUpLate(): void {
    const now = performance.now();
    for (const entry of this.waiting.all()) {
      if (now - entry.heard < this.patience.idleMs && now - entry.began < this.patience.wholeMs) continue;
      this.waiting.delete(entry);
      entry.giveUp();
    }
  }
}

async function pieces(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
  entry: Waiting,
): Promise<Uint8Array | "too_large"> {
  const parts: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concat(parts, total);
    entry.heard = performance.now();
    total += value.byteLength;
    if (total > maxBytes) {
      reader.cancel().catch(() => undefined);
      return "too_large";
    }
    parts.push(value);
  }
}
