import type { Job } from "../../kernel/job.ts";
import type { MakeNestedCall } from "../../road/nested-call.ts";
import { embedsBy, type SendTexts } from "./embeddings.ts";
import type { FindPassages } from "../../road/knowledge.ts";
import { findsPassages } from "./find-passages.ts";
import { indexDocuments, type IndexingParts } from "./index-documents.ts";

const INDEXED_MS = 500;

export interface KnowledgeParts extends Omit<IndexingParts, "embed"> {
  readonly nest: MakeNestedCall;
  readonly send: SendTexts;
}

/** Knowledge bases where calls are served: their documents are read and embedded here, and questions are. */
export function openKnowledge({ nest, send, ...parts }: KnowledgeParts): {
  readonly road: IndexingParts;
  readonly find: FindPassages;
  readonly jobs: readonly Job[];
} {
  const road = { ...parts, embed: embedsBy(nest, send) };
  return { road, find: findsPassages(road), jobs: [{ name: "index_documents", everyMs: INDEXED_MS, run: () => indexDocuments(road) }] };
}
