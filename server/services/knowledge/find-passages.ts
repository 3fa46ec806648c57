import type { KnowledgeBaseEntry } from "../../directory/knowledge/knowledge-base-entry.ts";
import { readerPrincipals } from "../../directory/knowledge/reader-principals.ts";
import { type RankedChunk, type SearchedPlaces, searchChunks } from "../../directory/knowledge/search-chunks.ts";
import { boundsOfAll, type FindPassages, type FoundPassage } from "../../road/knowledge.ts";
import { choosePassages, roomFor } from "./choose-passages.ts";
import type { EmbedTexts } from "./embeddings.ts";
import { questionVectorsOf } from "./question-vectors.ts";

/** In characters. Of a longer question only the end is searched for, where people usually ask. */
const MAX_QUESTION_LENGTH = 8_000;

export interface FindingParts extends SearchedPlaces {
  readonly embed: EmbedTexts;
}

/** Finds passages for a caller's question by vectors and full text; by full text alone if the question cannot be embedded. */
export function findsPassages({ db, remembered, embed }: FindingParts): FindPassages {
  return async (call, question, bases) => {
    const tenantId = call.scope?.tenant.id;
    if (tenantId === undefined) return [];
    const text = question.slice(-MAX_QUESTION_LENGTH);
    const [vectors, principals] = await Promise.all([
      questionVectorsOf(embed, call, text, bases),
      readerPrincipals(db, tenantId, call.identity?.userId ?? null),
    ]);
    const scope = { tenantId, baseIds: bases.map(({ id }) => id), filters: null, principals };
    return chosenOf(await searchChunks({ db, remembered }, scope, { text, vectors }), bases);
  };
}

/** Applies each knowledge base's own limits, then the limits of the most generous one to all of them together. */
function chosenOf(ranked: readonly RankedChunk[], bases: readonly KnowledgeBaseEntry[]): FoundPassage[] {
  const fits = new Set(
    bases
      .flatMap((base) =>
        choosePassages(
          ranked.filter(({ knowledge_base_id: id }) => id === base.id),
          base,
        ).filter(({ leftOut }) => leftOut === null),
      )
      .map(keyOf),
  );
  const room = roomFor(boundsOfAll(bases));
  return ranked
    .filter((chunk) => fits.has(keyOf(chunk)) && room.takes(chunk.tokens))
    .map(({ document_id: documentId, document_name: name, ordinal, heading, body: text, tokens, similarity }) => ({
      ...{ documentId, ordinal, name, heading, text, tokens, similarity },
    }));
}

const keyOf = ({ document_id, ordinal }: Pick<RankedChunk, "document_id" | "ordinal">) => `${document_id} ${ordinal}`;
