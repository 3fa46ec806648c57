import { parentPort, workerData } from "node:worker_threads";
import { jsonLog } from "../../../kernel/log.ts";
import { openDatabase } from "../../../store/database.ts";
import { knowledgeDocumentIds, lexemesOf } from "../../../store/knowledge/knowledge-memory.ts";
import type { ChunkKey } from "../../../store/knowledge/knowledge-search.ts";
import { HeldBases } from "./held-bases.ts";
import { packedSigns } from "./packed-signs.ts";
import type { Candidates, MemoryJob, MemoryJobDone, MemoryThread } from "./remembered-passages.ts";
import { bySigns, byWords, type ScoredKey, visibleTo } from "./search-memory.ts";

const { databaseUrl, mostBytes } = workerData as MemoryThread;
const { db } = openDatabase(databaseUrl, { log: jsonLog("error"), max: 4 });
const bases = new HeldBases(db, mostBytes);

async function found({ scope, text, vectors, ranked, candidates }: MemoryJob): Promise<Candidates | null> {
  const { tenantId, baseIds, filters } = scope;
  const [lexemes, documents, ...memories] = await Promise.all([
    lexemesOf(db, text),
    filters === null ? null : knowledgeDocumentIds(db, tenantId, baseIds, filters),
    ...baseIds.map((id) => bases.upToDate(tenantId, id)),
  ]);
  const principals = scope.principals === null ? null : new Set(scope.principals);
  const words: ScoredKey[] = [];
  const signs: ScoredKey[][] = vectors.map(() => []);
  const queries = vectors.map(({ modelId, vector }) => ({ modelId, vector, signs: packedSigns(vector) }));
  for (const memory of memories) {
    if (memory === null) return null;
    const visible = visibleTo(memory, principals, documents);
    words.push(...byWords(memory, visible, lexemes, ranked));
    for (const [i, vector] of queries.entries()) signs[i]?.push(...bySigns(memory, visible, vector, candidates));
  }
  return {
    byWords: keysOf(words.sort((a, b) => b.score - a.score || inOrder(a, b)).slice(0, ranked)),
    bySigns: signs.map((keys) => keysOf(keys.sort((a, b) => b.score - a.score || inOrder(a, b)).slice(0, candidates))),
  };
}

const keysOf = (keys: readonly ScoredKey[]): ChunkKey[] => keys.map(({ document_id, ordinal }) => ({ document_id, ordinal }));

const inOrder = (a: ChunkKey, b: ChunkKey) =>
  a.document_id === b.document_id ? a.ordinal - b.ordinal : a.document_id < b.document_id ? -1 : 1;

parentPort?.on("message", async (job: MemoryJob) => {
  const done: MemoryJobDone = { id: job.id, found: await found(job).catch(() => null) };
  parentPort?.postMessage(done, []);
});
