import { setTimeout as delay } from "node:timers/promises";
import type { ModelEntry } from "../models/model-entry.ts";
import type { Database } from "../../store/database.ts";
import { readySignIndexes, type SignSpace, signIndexName } from "../../store/knowledge/knowledge-sign-indexes.ts";
import {
  anyForSomeOnly,
  chunksBySigns,
  chunksByWords,
  type ChunkKey,
  type FoundChunk,
  indexedChunksBySigns,
  readChunks,
  type SearchScope,
} from "../../store/knowledge/knowledge-search.ts";
import type { Candidates, RememberedPassages } from "./memory/remembered-passages.ts";
import { cosineOf, fromBytes, signsOf } from "./vectors.ts";

/** What a search is for: its question, as words and by each model that passages were embedded with. */
export interface Question {
  readonly text: string;
  readonly vectors: readonly { readonly model: ModelEntry; readonly vector: Float32Array }[];
}

export interface RankedChunk extends Omit<FoundChunk, "vector" | "embedding_model_id"> {
  readonly score: number;
  /** Null where it or the question has no vector. */
  readonly similarity: number | null;
  /** From 1; null where that half did not find it. */
  readonly lexicalRank: number | null;
  readonly vectorRank: number | null;
}

/** Enough that the signs, which are coarse, miss hardly any of the nearest. */
const CANDIDATES = 200;
/** There more than the signs tells which are nearest. */
const CANDIDATES_IN_MEMORY = 64;
/** Where documents are for some readers only, the database's answer is given after a whole number of these. */
const TOLD_MS = 250;
/** Of each half that the two together are ranked by. */
const RANKED = 60;
/** How much a place near the top of one half is worth; the usual constant of reciprocal rank fusion. */
const RANK_OFFSET = 60;

/** Where passages are searched: in memory where they are held there, else in the database, which has the last word. */
export interface SearchedPlaces {
  readonly db: Database;
  readonly remembered: Pick<RememberedPassages, "find"> | null;
}

const keyOf = ({ document_id, ordinal }: ChunkKey) => `${document_id} ${ordinal}`;

/** Passages by words and by vectors, ranked together. Equal texts of several documents all stay: each is a source. */
export async function searchChunks({ db, remembered }: SearchedPlaces, scope: SearchScope, question: Question): Promise<RankedChunk[]> {
  if (scope.baseIds.length === 0) return [];
  const vectors = question.vectors.map(({ model, vector }) => ({ modelId: model.id, vector }));
  const asking = { scope, text: question.text, vectors, ranked: RANKED, candidates: CANDIDATES_IN_MEMORY };
  const { byWords, bySigns } = (await remembered?.find(asking)) ?? (await candidatesInDatabase(db, scope, question.text, vectors));
  const keys = new Map([...byWords, ...bySigns.flat()].map((key) => [keyOf(key), key]));
  const asked = new Map(question.vectors.map(({ model, vector }) => [model.id, vector]));
  const chunks = (await readChunks(db, scope, [...keys.values()])).map(({ vector, embedding_model_id: modelId, ...chunk }) => {
    const toCompare = asked.get(modelId ?? "");
    return { ...chunk, similarity: toCompare === undefined || vector === null ? null : cosineOf(fromBytes(vector), toCompare) };
  });
  const lexical = new Map(byWords.map((key, i) => [keyOf(key), i + 1]));
  const nearest = chunks.filter(({ similarity }) => similarity !== null).sort((a, b) => (b.similarity ?? 0) - (a.similarity ?? 0));
  const near = new Map(nearest.slice(0, RANKED).map((chunk, i) => [keyOf(chunk), i + 1]));
  return chunks
    .flatMap((chunk) => {
      const [lexicalRank, vectorRank] = [lexical.get(keyOf(chunk)) ?? null, near.get(keyOf(chunk)) ?? null];
      if (lexicalRank === null && vectorRank === null) return [];
      return [{ ...chunk, lexicalRank, vectorRank, score: worth(lexicalRank) + worth(vectorRank) }];
    })
    .sort((a, b) => b.score - a.score || (b.similarity ?? 0) - (a.similarity ?? 0) || (keyOf(a) < keyOf(b) ? -1 : 1));
}

interface AskedVector {
  readonly modelId: string;
  readonly vector: Float32Array;
}

/**
 * What is for some readers only is looked at and left out here: to a reader whom the rights of documents bind, how long that
 * took is not told.
 */
async function candidatesInDatabase(db: Database, scope: SearchScope, text: string, vectors: readonly AskedVector[]): Promise<Candidates> {
  const startedAt = performance.now();
  const someOnly = await anyForSomeOnly(db, scope);
  const ready = someOnly || scope.filters !== null ? new Set<string>() : await readySignIndexes(db);
  const [byWords, ...bySigns] = await Promise.all([
    chunksByWords(db, scope, text, RANKED),
    ...vectors.map((vector) => nearBySigns(db, scope, vector, ready)),
  ]);
  if (someOnly && scope.principals !== null) await delay(TOLD_MS - ((performance.now() - startedAt) % TOLD_MS));
  return { byWords, bySigns };
}

/** By an index where the knowledge base has one, else by a look at all that the reader finds. */
async function nearBySigns(db: Database, scope: SearchScope, { modelId, vector }: AskedVector, ready: ReadonlySet<string>) {
  const signs = signsOf(vector);
  const spaces = scope.baseIds.map((baseId) => ({ baseId, modelId, bits: vector.length }));
  const [indexed, others] = [spaces.filter(isReady(ready)), spaces.filter((space) => !isReady(ready)(space))];
  const found = await Promise.all([
    ...indexed.map((space) => indexedChunksBySigns(db, scope.tenantId, space, signs, CANDIDATES)),
    ...(others.length === 0
      ? []
      : [chunksBySigns(db, { ...scope, baseIds: others.map(({ baseId }) => baseId) }, modelId, signs, CANDIDATES)]),
  ]);
  return found.flat();
}

const isReady = (ready: ReadonlySet<string>) => (space: SignSpace) => ready.has(signIndexName(space));

const worth = (rank: number | null) => (rank === null ? 0 : 1 / (RANK_OFFSET + rank));
