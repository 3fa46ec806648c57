import type { KnowledgeBaseEntry } from "../../directory/knowledge/knowledge-base-entry.ts";
import { readerPrincipals } from "../../directory/knowledge/reader-principals.ts";
import { type Question, type RankedChunk, type SearchedPlaces, searchChunks } from "../../directory/knowledge/search-chunks.ts";
import { isRefusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { boundsOfAll, type FindPassages, type FoundPassage } from "../../road/knowledge.ts";
import { addTag } from "../../road/record/add-tag.ts";
import { choosePassages, roomFor } from "./choose-passages.ts";
import type { EmbedTexts } from "./embeddings.ts";

const TIMEOUT_MS = 5_000;
/** A longer question is searched for by its end, where people ask. */
const LONGEST_QUESTION = 8_000;

export interface FindingParts extends SearchedPlaces {
  readonly embed: EmbedTexts;
}

/** Finds passages for a caller's question. Where no vector is to be had, the words alone find. */
export function findsPassages({ db, remembered, embed }: FindingParts): FindPassages {
  return async (call, question, bases) => {
    const tenantId = call.scope?.tenant.id;
    if (tenantId === undefined) return [];
    const text = question.slice(-LONGEST_QUESTION);
    const [vectors, principals] = await Promise.all([
      vectorsOf(embed, call, text, bases),
      readerPrincipals(db, tenantId, call.identity?.userId ?? null),
    ]);
    const scope = { tenantId, baseIds: bases.map(({ id }) => id), filters: null, principals };
    return chosenOf(await searchChunks({ db, remembered }, scope, { text, vectors }), bases);
  };
}

/** Each knowledge base gives no more than it may, and all of them no more than the one that gives most. */
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

/** The question by each model that passages of the knowledge bases were embedded with. */
async function vectorsOf(embed: EmbedTexts, call: Call, text: string, bases: readonly KnowledgeBaseEntry[]): Promise<Question["vectors"]> {
  const ids = [...new Set(bases.flatMap(({ embeddingModelId }) => embeddingModelId ?? []))];
  const vectors = await Promise.all(
    ids.map(async (id) => {
      const model = call.scope?.tenant.models.get(id);
      const found = model?.enabled === true ? await embed(call, model, [text], { timeoutMs: TIMEOUT_MS, ofCaller: true }) : null;
      if (model === undefined || found === null || isRefusal(found)) {
        addTag(call, "knowledge_by_words_only");
        return [];
      }
      return found.map((vector) => ({ model, vector }));
    }),
  );
  return vectors.flat();
}
