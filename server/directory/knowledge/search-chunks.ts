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

/** A search question: its text, and its vector for each model with which passages were embedded. */
export interface Question {
  readonly text: string;
  readonly vectors: readonly { readonly model: ModelEntry; readonly vector: Float32Array }[];
}

export interface RankedChunk extends Omit<FoundChunk, "vector" | "embedding_model_id"> {
  readonly score: number;
  /** Null if the passage or the question has no vector. */
  readonly similarity: number | null;
  /** 1-based; null if that half of the search did not find the passage. */
  readonly lexicalRank: number | null;
  readonly vectorRank: number | null;
}

/** Enough that the coarse signs miss hardly any of the nearest. */
const CANDIDATES = 200;
/** Fewer suffice in memory, where candidates are ranked by more than their signs. */
const CANDIDATES_IN_MEMORY = 64;
/** If some documents are restricted, the database's answer is delayed to a multiple of this many milliseconds. */
const RESPONSE_STEP_MS = 250;
/** How many results of each half enter the combined ranking. */
const RANKED = 60;
/** The usual constant of reciprocal rank fusion, which sets the weight of top ranks. */
const RANK_OFFSET = 60;

/** Passages are searched in memory if they are held there, and otherwise in the database, which always makes the final decision. */
export interface SearchedPlaces {
  readonly db: Database;
  readonly remembered: Pick<RememberedPassages, "find"> | null;
}

const keyOf = ({ document_id, ordinal }: ChunkKey) => `${document_id} ${ordinal}`;

/**
 * Searches by words and by vectors and ranks the results together. Identical texts of several documents are all kept,
 * since each is a source.
 */
export async function searchChunks({ db, remembered }: SearchedPlaces, scope: SearchScope, question: Question): Promise<RankedChunk[]> {
  if (scope.baseIds.length === 0) return [];
  const vectors = question.vectors.map(({ model, vector }) => ({ modelId: model.id, vector }));
  const asking = { scope, text: question.text, vectors, ranked: RANKED, candidates: CANDIDATES_IN_MEMORY };
  const { byWords, bySigns } = (await remembered?.find(asking)) ?? (await candidatesInDatabase(db, scope, question.text, vectors));
  const keys = new Map([...byWords, ...bySigns.flat()].map((key) => [keyOf(key), key]));
  const queryVectors = new Map(question.vectors.map(({ model, vector }) => [model.id, vector]));
  const chunks = (await readChunks(db, scope, [...keys.values()])).map(({ vector, embedding_model_id: modelId, ...chunk }) => {
    const toCompare = queryVectors.get(modelId ?? "");
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

interface QueryVector {
  readonly modelId: string;
  readonly vector: Float32Array;
}

/** The database filters out restricted documents during the search, so the duration is hidden from readers to whom restrictions apply. */
async function candidatesInDatabase(db: Database, scope: SearchScope, text: string, vectors: readonly QueryVector[]): Promise<Candidates> {
  const startedAt = performance.now();
  const someOnly = await anyForSomeOnly(db, scope);
  const ready = someOnly || scope.filters !== null ? new Set<string>() : await readySignIndexes(db);
  const [byWords, ...bySigns] = await Promise.all([
    chunksByWords(db, scope, text, RANKED),
    ...vectors.map((vector) => nearBySigns(db, scope, vector, ready)),
  ]);
  if (someOnly && scope.principals !== null) await delay(RESPONSE_STEP_MS - ((performance.now() - startedAt) % RESPONSE_STEP_MS));
  return { byWords, bySigns };
}

/** Uses the index if the knowledge base has one, and otherwise scans everything that the reader may find. */
async function nearBySigns(db: Database, scope: SearchScope, { modelId, vector }: QueryVector, ready: ReadonlySet<string>) {
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
