import type { RunBounded } from "../../kernel/scheduling/bounded-run.ts";
import type { SearchedPlaces } from "../../directory/knowledge/search-chunks.ts";
import { passageReader } from "./document-reader.ts";
import type { Job } from "../../kernel/scheduling/job.ts";
import type { MakeNestedCall } from "../../road/own-calls/nested-call.ts";
import { embedsBy, type SendTexts } from "./embeddings.ts";
import type { FindPassages } from "../../road/knowledge.ts";
import { findsPassages } from "./find-passages.ts";
import { indexDocuments, type IndexingParts } from "./index-documents.ts";

const INDEXED_MS = 500;

export interface KnowledgeParts extends Omit<IndexingParts, "embed" | "read"> {
  readonly nest: MakeNestedCall;
  readonly runBounded: RunBounded;
  readonly send: SendTexts;
  readonly remembered: SearchedPlaces["remembered"];
}

/** Knowledge bases in processes that serve calls: indexes documents, and embeds and searches questions. */
export function openKnowledge({ nest, send, runBounded, ...parts }: KnowledgeParts): {
  readonly road: IndexingParts & Pick<SearchedPlaces, "remembered">;
  readonly find: FindPassages;
  readonly jobs: readonly Job[];
} {
  const road = { ...parts, embed: embedsBy(nest, send), read: passageReader(runBounded) };
  return { road, find: findsPassages(road), jobs: [{ name: "index_documents", everyMs: INDEXED_MS, run: () => indexDocuments(road) }] };
}
