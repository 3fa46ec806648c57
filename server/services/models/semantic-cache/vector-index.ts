import type { StoredAnswers, StoredVector } from "../../../directory/semantic-cache/stored-answers.ts";
import { cosine } from "./vectors.ts";
import { WeighedMap } from "./weighed-map.ts";

/** Newest questions per space that are compared; older answers are found only by exact match. */
const MAX_IN_A_SPACE = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Longest delay until vectors stored by other processes are seen. */
const REFRESH_INTERVAL_MS = 1_000;

interface Space {
  /** Newest first. */
  vectors: readonly StoredVector[];
  checkedAt: number;
}

type Of = Parameters<StoredAnswers["vectors"]>[0] & { readonly generation: string };

/** Vectors of answered questions, by space. */
export class VectorIndex {
  private readonly held = new WeighedMap<Space>(MAX_BYTES);
  private readonly stored: StoredAnswers;
  private readonly now: () => number;

  constructor(stored: StoredAnswers, now: () => number) {
    this.stored = stored;
    this.now = now;
  }

  /** The most similar question that reaches the threshold; null if there is none. */
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
      this.keep(of, name, { vectors: [vector, ...space.vectors.filter(({ id }) => id !== vector.id)], checkedAt: space.checkedAt });
  }

  private async space(of: Of, name: string): Promise<Space> {
    const held = this.held.get(keyOf(of, name));
    const now = this.now();
    if (held !== undefined && now - held.checkedAt < REFRESH_INTERVAL_MS) return held;
    // Clocks of processes differ, so vectors slightly older than the newest known may be new.
    const since = held?.vectors[OVERLAP]?.id ?? "";
    const fresh = await this.stored.vectors(of, name, since, MAX_IN_A_SPACE);
    const known = new Set(fresh.map(({ id }) => id));
    return this.keep(of, name, { vectors: [...fresh, ...(held?.vectors ?? []).filter(({ id }) => !known.has(id))], checkedAt: now });
  }

  private keep(of: Of, name: string, { vectors, checkedAt }: Space): Space {
    const now = this.now();
    const space = { vectors: vectors.filter(({ until }) => until > now).slice(0, MAX_IN_A_SPACE), checkedAt };
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
