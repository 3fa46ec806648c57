import type { KnowledgeBase, KnowledgeSearchAnswer } from "@gatehouse/contracts/knowledge-bases";
import { readerPrincipals } from "../../directory/knowledge/reader-principals.ts";
import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { type Question, type SearchedPlaces, searchChunks } from "../../directory/knowledge/search-chunks.ts";
import type { Directory } from "../../directory/writes/write.ts";
import { choosePassages } from "./choose-passages.ts";
import type { EmbedTexts } from "./embeddings.ts";
import { ownCall } from "./own-call.ts";

export interface BenchQuestion {
  readonly query: string;
  readonly top_k?: number | undefined;
  readonly similarity_threshold?: number | undefined;
  readonly filters?: object | undefined;
  readonly end_user_id?: string | undefined;
}

/** Runs a search for an administrator: which passages a call would get, which it would not, and why. */
export type SearchBench = (base: KnowledgeBase, question: BenchQuestion) => Promise<KnowledgeSearchAnswer>;

const TIMEOUT_MS = 10_000;
const SHOWN = 50;

interface Road {
  readonly snapshots: Pick<Snapshots, "scope">;
  readonly embed: EmbedTexts;
  readonly clock: Clock;
  readonly remembered: SearchedPlaces["remembered"];
}

/** `road`: null if the process serves no calls and therefore cannot embed the question. */
export function searchBench(db: Directory["db"], road: Road | null): SearchBench {
  return async (base, question) => {
    const started = performance.now();
    const questionVectors = await vectorsFor(road, base, question.query);
    const principals = question.end_user_id === undefined ? null : await readerPrincipals(db, base.tenant_id, question.end_user_id);
    const scope = { tenantId: base.tenant_id, baseIds: [base.id], filters: question.filters ?? null, principals };
    const vectors = typeof questionVectors === "string" ? [] : questionVectors;
    const ranked = await searchChunks({ db, remembered: road?.remembered ?? null }, scope, { text: question.query, vectors });
    const chosen = choosePassages(ranked.slice(0, SHOWN), {
      topK: question.top_k ?? base.top_k,
      similarityThreshold: question.similarity_threshold ?? base.similarity_threshold,
      maxContextTokens: base.max_context_tokens,
    });
    return {
      passages: chosen.map((chunk) => ({
        document_id: chunk.document_id,
        document_name: chunk.document_name,
        ordinal: chunk.ordinal,
        heading: chunk.heading,
        text: chunk.body,
        tokens: chunk.tokens,
        score: chunk.score,
        similarity: chunk.similarity,
        lexical_rank: chunk.lexicalRank,
        vector_rank: chunk.vectorRank,
        left_out: chunk.leftOut,
      })),
      by_vectors: typeof questionVectors !== "string",
      why_not_by_vectors: typeof questionVectors === "string" ? questionVectors : null,
      duration_ms: Math.round(performance.now() - started),
    };
  };
}

/** The question's vector, or the reason why there is none. */
async function vectorsFor(road: Road | null, base: KnowledgeBase, text: string): Promise<Question["vectors"] | string> {
  if (base.embedding_model_id === null) return "The knowledge base has no embedding model.";
  const groupId = base.indexing_group_id ?? base.group_ids[0];
  if (groupId === undefined) return "No resource group pays for embedding the question.";
  if (road === null) return "This process serves no calls, and so asks no model; another one may.";
  const scope = await road.snapshots.scope(base.tenant_id, groupId);
  const model = scope?.tenant.models.get(base.embedding_model_id);
  if (scope === null || model?.enabled !== true) return "The embedding model is switched off or not there.";
  const found = await road.embed(ownCall(scope, base.id, road.clock), model, [text], { timeoutMs: TIMEOUT_MS, ofCaller: false });
  if (isRefusal(found)) return found.message;
  return found.map((vector) => ({ model, vector }));
}
