import type { StoredAnswers, StoredVector } from "../../../directory/semantic-cache/stored-answers.ts";
import { cosine } from "./vectors.ts";
import { WeighedMap } from "./weighed-map.ts";

/** Newest questions of a space that are compared; what is older is found by an exact match only. */
const MAX_IN_A_SPACE = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** What another process stored is seen this much later at most. */
const LOOK_AGAIN_MS = 1_000;

interface Space {
  /** Newest first. */
  vectors: readonly StoredVector[];
  lookedAt: number;
}

type Of = Parameters<StoredAnswers["vectors"]>[0] & { readonly generation: string };

/** The vectors of answered questions, by space. */
export class VectorIndex {
  private readonly held = new WeighedMap<Space>(MAX_BYTES);
  private readonly stored: StoredAnswers;
  private readonly now: () => number;

  constructor(stored: StoredAnswers, now: () => number) {
    this.stored = stored;
    this.now = now;
  }

  /** The nearest question at least as near as the threshold. */
  async nearest(
    of: Of,
    name: string,
    vector: Int8Array,
    threshold: number,
  ): Promise<{ readonly found: StoredVector; readonly score: number } | null> {
    const now = this.now();
    let best: { found: StoredVector; score: number } | null = null;
    for (const found of (await this.space(of, name)).vectors) {
      if (found.until <= now) continue;
      const score = cosine(vector, found.vector);
      if (score >= threshold && (best === null || score > best.score)) best = { found, score };
    }
    return best;
  }

  add(of: Of, name: string, vector: StoredVector): void {
    const space = this.held.get(keyOf(of, name));
    if (space !== undefined)
      this.keep(of, name, { vectors: [vector, ...space.vectors.filter(({ id }) => id !== vector.id)], lookedAt: space.lookedAt });
  }

  private async space(of: Of, name: string): Promise<Space> {
    const held = this.held.get(keyOf(of, name));
    const now = this.now();
    if (held !== undefined && now - held.lookedAt < LOOK_AGAIN_MS) return held;
    // A process writes with a clock of its own: what it stored a little before the newest known may be news.
    const since = held?.vectors[OVERLAP]?.id ?? "";
    const fresh = await this.stored.vectors(of, name, since, MAX_IN_A_SPACE);
    const known = new Set(fresh.map(({ id }) => id));
    return this.keep(of, name, { vectors: [...fresh, ...(held?.vectors ?? []).filter(({ id }) => !known.has(id))], lookedAt: now });
  }

  private keep(of: Of, name: string, { vectors, lookedAt }: Space): Space {
    const now = this.now();
    const space = { vectors: vectors.filter(({ until }) => until > now).slice(0, MAX_IN_A_SPACE), lookedAt };
    this.held.set(
      keyOf(of, name),
      space,
      space.vectors.reduce((sum, { vector }) => sum + vector.byteLength + 100, 200),
    );
    return space;
  }
}

const OVERLAP = 20;

function keyOf({ tenantId, configId, generation }: Of, name: string): string {
  return `${tenantId} ${configId} ${generation} ${name}`;
}
