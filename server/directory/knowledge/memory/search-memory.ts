import { createHash } from "node:crypto";
import type { ChunkKey } from "../../../store/knowledge/knowledge-search.ts";
import { type PackedSigns, type PassageMemory, planeOf } from "./passage-memory.ts";
import type { WordHits } from "./word-places.ts";

/** A passage with its score; higher is better. */
export interface ScoredKey extends ChunkKey {
  readonly score: number;
}

const MAX_WORDS = 32;
/** The usual BM25 constants (k1 and b). */
const SATURATION = 1.2;
const LENGTH_SHARE = 0.75;

/** By document slot: 1 if the reader may find the document. Null `principals` stands for an administrator of the knowledge base. */
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

/** The first three bytes of its digest, as `knowledge_terms` in the database stores them. */
const termOf = (lexeme: string) => createHash("sha256").update(lexeme).digest().readUIntBE(0, 3);

/** Passages with any of the words, best first (BM25 over what the reader may find). */
export function byWords(memory: PassageMemory, visible: Uint8Array, lexemes: readonly string[], limit: number): ScoredKey[] {
  const { length: count } = memory.document;
  const documents = signed(memory.document.data);
  const sizes = signed(memory.size.data);
  const { seen, length } = sizeOfSeen(documents, sizes, count, visible);
  const mean = seen === 0 ? 1 : Math.max(1, length / seen);
  const scores = new Float64Array(count);
  for (const term of new Set(lexemes.slice(0, MAX_WORDS).map(termOf))) {
    const hits = memory.places.of(term);
    const found = countVisible(hits, documents, visible);
    const worth = Math.log(1 + (seen - found + 0.5) / (found + 0.5));
    addScores(scores, hits, sizes, worth * (SATURATION + 1), (SATURATION * LENGTH_SHARE) / mean);
  }
  const best = new Best(memory, limit);
  offerScored(best, scores, documents, visible);
  return best.inOrder();
}

/** A view of the same memory, because signed 32-bit integers are fastest. Numbers stay below 2^31, and of signs only the bits matter. */
const signed = (numbers: Uint32Array) => new Int32Array(numbers.buffer, numbers.byteOffset, numbers.length);

// Separate functions, because the compiler optimizes short loops over few arrays.

function sizeOfSeen(documents: Int32Array, sizes: Int32Array, count: number, visible: Uint8Array): { seen: number; length: number } {
  let [seen, length] = [0, 0];
  for (let i = 0; i < count; i++) {
    const shown = visible[documents[i] as number] as number;
    seen += shown;
    length += shown * (sizes[i] as number);
  }
  return { seen, length };
}

function countVisible({ count, passages }: WordHits, documents: Int32Array, visible: Uint8Array): number {
  let found = 0;
  for (let hit = 0; hit < count; hit++) found += visible[documents[passages[hit] as number] as number] as number;
  return found;
}

function addScores(scores: Float64Array, { count, passages, often }: WordHits, sizes: Int32Array, most: number, longer: number): void {
  const slow = SATURATION * (1 - LENGTH_SHARE);
  for (let hit = 0; hit < count; hit++) {
    const i = passages[hit] as number;
    const times = often[hit] as number;
    scores[i] = (scores[i] as number) + (most * times) / (times + slow + longer * (sizes[i] as number));
  }
}

function offerScored(best: Best, scores: Float64Array, documents: Int32Array, visible: Uint8Array): void {
  for (let i = 0; i < documents.length && i < scores.length; i++) {
    const score = scores[i] as number;
    if (score > 0 && score >= best.least && visible[documents[i] as number] === 1) best.offer(i, score);
  }
}

/** In large sets, the first bits alone preselect the passages that are compared in full. */
const MANY = 20_000;
const FIRST_WORDS = 8;
const CHOSEN_A_PLACE = 50;
/** How many of the closest by Hamming distance, per result, are reranked with the question's actual components. */
const WEIGHED_A_PLACE = 5;

/** The passages nearest to the vector according to their signs, among what the reader may find. */
export function bySigns(memory: PassageMemory, visible: Uint8Array, { modelId, signs, vector }: QueryVector, limit: number): ScoredKey[] {
  const plane = memory.planes.get(planeOf(modelId, signs.bits));
  if (plane === undefined) return [];
  const { passages, words, width } = plane;
  const numbers = signed(passages.data);
  const documents = signed(memory.document.data);
  const shown = shownOf(numbers, documents, passages.length, visible);
  const bits = signed(words.data);
  const querySigns = signed(signs.words);
  const some = passages.length > MANY && width > FIRST_WORDS;
  const weighed = limit * WEIGHED_A_PLACE;
  const upto = some ? FIRST_WORDS : width;
  const first = leastDiffering(
    differencesOfAll(passages.length, bits, querySigns, width, upto),
    shown,
    upto * 32,
    some ? limit * CHOSEN_A_PLACE : weighed,
  );
  const found = some ? nearestOf(first, bits, querySigns, width, weighed) : first;
  const weights = weightsOf(vector);
  return Array.from(found, (place) => ({ ...keyAt(memory, numbers[place] as number), score: weigh(weights, bits, place * width) }))
    .sort((a, b) => b.score - a.score || inPlace(a, b))
    .slice(0, limit);
}

function shownOf(numbers: Int32Array, documents: Int32Array, count: number, visible: Uint8Array): Uint8Array {
  const shown = new Uint8Array(count);
  for (let i = 0; i < count; i++) shown[i] = visible[documents[numbers[i] as number] as number] as number;
  return shown;
}

const BYTES = 256;

/** A table of the question's projection on each byte of signs at each position, so that one lookup weighs eight bits. */
function weightsOf(vector: Float32Array): Float64Array {
  const places = Math.ceil(vector.length / 8);
  const weights = new Float64Array(places * BYTES);
  for (let place = 0; place < places; place++)
    for (let byte = 0; byte < BYTES; byte++) {
      let sum = 0;
      for (let bit = 0; bit < 8; bit++) {
        const value = vector[place * 8 + bit] ?? 0;
        sum += (byte & (128 >> bit)) === 0 ? -value : value;
      }
      weights[place * BYTES + byte] = sum;
    }
  return weights;
}

/** The question's projection on the direction of the signs. */
function weigh(weights: Float64Array, held: Int32Array, at: number): number {
  let sum = 0;
  for (let place = 0; place * BYTES < weights.length; place++) {
    const byte = ((held[at + (place >> 2)] as number) >>> (24 - 8 * (place & 3))) & 255;
    sum += weights[place * BYTES + byte] as number;
  }
  return sum;
}

export interface QueryVector {
  readonly modelId: string;
  readonly signs: PackedSigns;
  readonly vector: Float32Array;
}

/** The places with the smallest Hamming distance over all bits. All of them are visible. */
function nearestOf(places: Int32Array, held: Int32Array, query: Int32Array, width: number, limit: number): Int32Array {
  const all = new Uint8Array(places.length).fill(1);
  const found = leastDiffering(differencesOf(places, held, query, width), all, width * 32, limit);
  return found.map((at) => places[at] as number);
}

function differencesOfAll(count: number, held: Int32Array, query: Int32Array, width: number, upto: number): Int32Array {
  const differing = new Int32Array(count);
  for (let i = 0, at = 0; i < count; i++, at += width) differing[i] = differenceAt(at, held, query, upto);
  return differing;
}

function differencesOf(places: Int32Array, held: Int32Array, query: Int32Array, width: number): Int32Array {
  const differing = new Int32Array(places.length);
  for (let i = 0; i < places.length; i++) differing[i] = differenceAt((places[i] as number) * width, held, query, width);
  return differing;
}

/** At least `limit` visible places, if there are that many: all within the distance of the last of these. */
function leastDiffering(differing: Int32Array, shown: Uint8Array, bits: number, limit: number): Int32Array {
  const counts = new Int32Array(bits + 1);
  countShown(counts, differing, shown);
  let most = 0;
  let kept = counts[0] as number;
  while (kept < limit && most < bits) kept += counts[++most] as number;
  const places = new Int32Array(kept);
  placesUpTo(places, differing, shown, most);
  return places;
}

function countShown(counts: Int32Array, differing: Int32Array, shown: Uint8Array): void {
  for (let i = 0; i < differing.length; i++) {
    const sum = differing[i] as number;
    counts[sum] = (counts[sum] as number) + (shown[i] as number);
  }
}

function placesUpTo(places: Int32Array, differing: Int32Array, shown: Uint8Array, most: number): void {
  for (let i = 0, kept = 0; kept < places.length; i++) if ((differing[i] as number) <= most && shown[i] === 1) places[kept++] = i;
}

/** The Hamming distance. Counts accumulate in the two halves of an integer, which are added at the end. */
function differenceAt(at: number, held: Int32Array, query: Int32Array, upto: number): number {
  let halves = 0;
  for (let w = 0; w < upto; w++) {
    let x = (held[at + w] as number) ^ (query[w] as number);
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    x = (x + (x >>> 4)) & 0x0f0f0f0f;
    halves = (halves + ((x + (x >>> 8)) & 0x00ff00ff)) | 0;
  }
  return (halves & 0xffff) + (halves >>> 16);
}

const inPlace = (a: ChunkKey, b: ChunkKey) =>
  a.document_id === b.document_id ? a.ordinal - b.ordinal : a.document_id < b.document_id ? -1 : 1;

const keyAt = (memory: PassageMemory, number: number): ChunkKey => ({
  document_id: memory.documentIds[memory.document.data[number] as number] ?? "",
  ordinal: memory.ordinal.data[number] as number,
});

/** Keeps the best few of many in a heap with the worst on top. Among equal scores, the earlier document wins. */
class Best {
  private readonly memory: PassageMemory;
  private readonly limit: number;
  private readonly heap: { readonly number: number; readonly score: number }[] = [];

  constructor(memory: PassageMemory, limit: number) {
    this.memory = memory;
    this.limit = limit;
  }

  /** Scores below this are rejected. */
  get least(): number {
    return this.heap.length === this.limit ? (this.heap[0]?.score ?? 0) : 0;
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
