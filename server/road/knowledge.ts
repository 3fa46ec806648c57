import type { GuardrailSurface } from "@gatehouse/contracts/guardrails";
import { grantedKnowledgeBases, type KnowledgeBaseEntry } from "../directory/knowledge/knowledge-base-entry.ts";
import { isRefusal, type Refusal, refuse } from "../kernel/errors.ts";
import type { Call } from "./call.ts";
import type { RequestView } from "./view.ts";

/** A passage found for a call that its caller is allowed to read. */
export interface FoundPassage {
  readonly documentId: string;
  readonly ordinal: number;
  readonly name: string;
  readonly heading: string;
  readonly text: string;
  readonly tokens: number;
  readonly similarity: number | null;
}

/** Finds the passages for a question, best first, within the limits of the knowledge bases and the caller's permissions. */
export type FindPassages = (call: Call, question: string, bases: readonly KnowledgeBaseEntry[]) => Promise<readonly FoundPassage[]>;

/** The dependencies of a knowledge base search. */
export interface KnowledgeLookup {
  readonly find: FindPassages;
  /** Texts after the guardrails; null in place of a blocked one. */
  readonly cleared: (call: Call, surface: GuardrailSurface, texts: readonly string[]) => Promise<readonly (string | null)[]>;
}

/** Upper bounds in bytes on the text around one passage, and before all of them. */
const AROUND_ONE = 1_024;
const BEFORE_ALL = 1_024;
const BYTES_A_TOKEN = 4;

/** The knowledge bases a call uses: those it names, else the defaults of its group that it may use. Empty for a call that takes none. */
export function knowledgeFor(call: Call, { knowledge }: RequestView): readonly KnowledgeBaseEntry[] | Refusal {
  const { scope } = call;
  if (scope === null || knowledge === undefined) return [];
  const { ids } = knowledge;
  if (ids?.length === 0 || (ids === null && scope.defaultKnowledgeBaseIds.length === 0)) return [];
  const granted = new Map(grantedKnowledgeBases(scope).map((base) => [base.id, base]));
  if (ids === null)
    return scope.defaultKnowledgeBaseIds.map((id) => granted.get(id)).filter((base) => base?.enabled === true) as KnowledgeBaseEntry[];
  const namedBases: KnowledgeBaseEntry[] = [];
  for (const id of ids) {
    const base = granted.get(id);
    // The same refusal whether the knowledge base does not exist or is not granted.
    if (base === undefined) return refuse("knowledge_base_not_found", `There is no knowledge base ${JSON.stringify(id)} for this caller.`);
    if (!base.enabled) return refuse("knowledge_base_disabled");
    namedBases.push(base);
  }
  return namedBases;
}

/** The limits for several knowledge bases together: the highest of each. */
export function boundsOfAll(bases: readonly KnowledgeBaseEntry[]): { readonly topK: number; readonly maxContextTokens: number } {
  return {
    topK: Math.max(0, ...bases.map(({ topK }) => topK)),
    maxContextTokens: Math.max(0, ...bases.map(({ maxContextTokens }) => maxContextTokens)),
  };
}

/** The most bytes that passages may add to a call. */
export function knowledgeBytes(call: Call, view: RequestView): number {
  const bases = knowledgeFor(call, view);
  if (isRefusal(bases) || bases.length === 0) return 0;
  const { topK, maxContextTokens } = boundsOfAll(bases);
  return maxContextTokens * BYTES_A_TOKEN + topK * AROUND_ONE + BEFORE_ALL;
}

/** A passage with its citation number. Passages of one document share it. */
export interface NumberedPassage extends FoundPassage {
  readonly source: number;
}

export function numbered(passages: readonly FoundPassage[]): NumberedPassage[] {
  const sources = new Map<string, number>();
  return passages.map((passage) => {
    const source = sources.get(passage.documentId) ?? sources.size + 1;
    sources.set(passage.documentId, source);
    return { ...passage, source };
  });
}

/** Records on the row and in the answer headers which passages a call was given. */
export function noteKnowledge(
  { row, answerHeaders }: Call,
  bases: readonly KnowledgeBaseEntry[],
  found: readonly FoundPassage[],
  startedAt: number,
): void {
  const similarities = found.flatMap(({ similarity }) => similarity ?? []);
  row.rag_enabled = true;
  row.rag_collection_ids = bases.map(({ id }) => id);
  row.rag_chunks_retrieved = found.length;
  row.rag_context_tokens = found.reduce((sum, { tokens }) => sum + tokens, 0);
  row.rag_top_similarity_score = similarities.length === 0 ? null : Math.round(Math.max(...similarities) * 10_000) / 10_000;
  row.rag_retrieval_duration_ms = Math.round(performance.now() - startedAt);
  answerHeaders["x-gw-sources"] = [...new Set(found.map(({ documentId }) => documentId))].join(",");
  if (found.length > 0)
    answerHeaders["x-gw-passages"] = numbered(found)
      .map(({ source, documentId, ordinal }) => `${source}=${documentId}:${ordinal}`)
      .join(",");
}
