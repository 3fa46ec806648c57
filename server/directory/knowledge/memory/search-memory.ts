import { createHash } from "node:crypto";
import type { ChunkKey } from "../../../store/knowledge-search.ts";
import { type PackedSigns, type PassageMemory, planeOf } from "./passage-memory.ts";

/** A passage with how well it fits: the more the better. */
export interface ScoredKey extends ChunkKey {
  readonly score: number;
}

const MOST_WORDS = 32;
/** The usual constants of BM25. */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

/** By the place of a document: 1 where the reader finds it. `principals` null: whoever tends the knowledge base. */
export function visibleTo(
  memory: PassageMemory,
  principals: ReadonlySet<string> | null,
  documents: ReadonlySet<string> | null,
): Uint8Array {
  return Uint8Array.from(memory.documentIds, (id, slot) => {
    if (id === null || documents?.has(id) === false) return 0;
    const theirs = memory.principals[slot] ?? null;
    return principals === null || theirs === null || theirs.some((principal) => principals.has(principal)) ? 1 : 0;
  });
}

/** Three bytes of its digest, as `knowledge_terms` of the database has them. */
const termOf = (lexeme: string) => createHash("sha256").update(lexeme).digest().readUIntBE(0, 3);

/** Passages with any of the words, those with more and rarer ones first (BM25, among what the reader finds). */
export function byWords(memory: PassageMemory, visible: Uint8Array, lexemes: readonly string[], limit: number): ScoredKey[] {
  const { document, size, places } = memory;
  const [documents, sizes, count] = [document.data, size.data, document.length];
  let [seen, length] = [0, 0];
  for (let i = 0; i < count; i++) {
    const shown = visible[documents[i] as number] as number;
    seen += shown;
    length += shown * (sizes[i] as number);
  }
  const mean = seen === 0 ? 1 : Math.max(1, length / seen);
  const scores = new Float64Array(count);
  for (const term of new Set(lexemes.slice(0, MOST_WORDS).map(termOf))) {
    const hits = places.of(term);
    let found = 0;
    for (let hit = 0; hit < hits.count; hit++) found += visible[documents[hits.passages[hit] as number] as number] as number;
    const worth = Math.log(1 + (seen - found + 0.5) / (found + 0.5));
    for (let hit = 0; hit < hits.count; hit++) {
      const [i, often] = [hits.passages[hit] as number, hits.often[hit] as number];
      const slow = SATURATION * (1 - LENGTH_SHARE + (LENGTH_SHARE * (sizes[i] as number)) / mean);
      scores[i] = (scores[i] as number) + (worth * often * (SATURATION + 1)) / (often + slow);
    }
  }
  const best = new Best(memory, limit);
  for (let i = 0; i < count; i++)
    if ((scores[i] as number) > 0 && visible[documents[i] as number] === 1) best.offer(i, scores[i] as number);
  return best.inOrder();
}

/** Among many, the first bits alone choose which are compared by all of theirs. */
const MANY = 20_000;
const FIRST_WORDS = 8;
const CHOSEN_A_PLACE = 50;
/** Of those that differ least, for each that is asked for, the question's own components tell which are nearest. */
const WEIGHED_A_PLACE = 5;

/** Those whose signs say that they are nearest, among what the reader finds. */
export function bySigns(memory: PassageMemory, visible: Uint8Array, { modelId, signs, vector }: AskedVector, limit: number): ScoredKey[] {
  const plane = memory.planes.get(planeOf(modelId, signs.bits));
  if (plane === undefined) return [];
  const { passages, words, width } = plane;
  const [numbers, documents] = [passages.data, memory.document.data];
  const shown = new Uint8Array(passages.length);
  for (let i = 0; i < shown.length; i++) shown[i] = visible[documents[numbers[i] as number] as number] as number;
  const compared = { held: words.data, asked: signs.words, width, shown };
  const some = passages.length > MANY && width > FIRST_WORDS;
  const weighed = limit * WEIGHED_A_PLACE;
  const first = leastDiffering({ ...compared, upto: some ? FIRST_WORDS : width }, null, some ? limit * CHOSEN_A_PLACE : weighed);
  const found = some ? leastDiffering({ ...compared, upto: width }, first, weighed) : first;
  return found
    .map((place) => ({ ...keyAt(memory, numbers[place] as number), score: weigh(vector, words.data, place * width) }))
    .sort((a, b) => b.score - a.score || inPlace(a, b))
    .slice(0, limit);
}

/** How far the question goes in the direction of the signs. */
function weigh(vector: Float32Array, held: Uint32Array, at: number): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++)
    sum += (((held[at + (i >> 5)] as number) >>> (31 - (i & 31))) & 1) === 1 ? (vector[i] as number) : -(vector[i] as number);
  return sum;
}

export interface AskedVector {
  readonly modelId: string;
  readonly signs: PackedSigns;
  readonly vector: Float32Array;
}

interface Compared {
  readonly held: Uint32Array;
  readonly asked: Uint32Array;
  readonly width: number;
  /** 1 where the reader finds the passage. */
  readonly shown: Uint8Array;
  /** How many words of each are compared. */
  readonly upto: number;
}

/** At least `limit` of the places (null: of all), where as many are shown: all that differ no more than the last of them. */
function leastDiffering({ held, asked, width, shown, upto }: Compared, places: readonly number[] | null, limit: number): number[] {
  const count = places?.length ?? shown.length;
  const [differing, counts] = [new Uint16Array(count), new Uint32Array(upto * 32 + 1)];
  for (let i = 0; i < count; i++) {
    const place = places === null ? i : (places[i] as number);
    const at = place * width;
    let sum = 0;
    for (let w = 0; w < upto; w++) {
      let x = (held[at + w] as number) ^ (asked[w] as number);
      x -= (x >>> 1) & 0x55555555;
      x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
      sum += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
    }
    differing[i] = sum;
    counts[sum] = (counts[sum] as number) + (shown[place] as number);
  }
  let most = 0;
  for (let sum = counts[0] as number; sum < limit && most + 1 < counts.length;) sum += counts[++most] as number;
  const kept: number[] = [];
  for (let i = 0; i < count; i++) {
    const place = places === null ? i : (places[i] as number);
    if ((differing[i] as number) <= most && shown[place] === 1) kept.push(place);
  }
  return kept;
}

const inPlace = (a: ChunkKey, b: ChunkKey) =>
  a.document_id === b.document_id ? a.ordinal - b.ordinal : a.document_id < b.document_id ? -1 : 1;

const keyAt = (memory: PassageMemory, number: number): ChunkKey => ({
  document_id: memory.documentIds[memory.document.data[number] as number] ?? "",
  ordinal: memory.ordinal.data[number] as number,
});

/** The best few of many, the worst of them first in the heap. Of equals, those are kept whose document comes first. */
class Best {
  private readonly memory: PassageMemory;
  private readonly limit: number;
  private readonly heap: { readonly number: number; readonly score: number }[] = [];

  constructor(memory: PassageMemory, limit: number) {
    this.memory = memory;
    this.limit = limit;
  }

  offer(number: number, score: number): void {
    const { heap, limit } = this;
    const one = { number, score };
    if (heap.length === limit) {
      const [worst] = heap;
      if (worst === undefined || score < worst.score || this.worse(one, worst)) return;
      heap[0] = one;
      this.sink();
      return;
    }
    heap.push(one);
    for (let at = heap.length - 1; at > 0;) {
      const above = (at - 1) >> 1;
      if (!this.worse(heap[at] as typeof one, heap[above] as typeof one)) break;
      [heap[at], heap[above]] = [heap[above] as typeof one, heap[at] as typeof one];
      at = above;
    }
  }

  inOrder(): ScoredKey[] {
    return this.heap
      .map(({ number, score }) => ({ ...keyAt(this.memory, number), score }))
      .sort((a, b) => b.score - a.score || inPlace(a, b));
  }

  private worse(a: { number: number; score: number }, b: { number: number; score: number }): boolean {
    return a.score === b.score ? inPlace(keyAt(this.memory, a.number), keyAt(this.memory, b.number)) > 0 : a.score < b.score;
  }

  private sink(): void {
    const { heap } = this;
    for (let at = 0; ;) {
      let least = at;
      for (const below of [2 * at + 1, 2 * at + 2])
        if (below < heap.length && this.worse(heap[below] as (typeof heap)[0], heap[least] as (typeof heap)[0])) least = below;
      if (least === at) return;
      [heap[at], heap[least]] = [heap[least] as (typeof heap)[0], heap[at] as (typeof heap)[0]];
      at = least;
    }
  }
}
