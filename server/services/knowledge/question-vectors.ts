import type { KnowledgeBaseEntry } from "../../directory/knowledge/knowledge-base-entry.ts";
import type { Question } from "../../directory/knowledge/search-chunks.ts";
import { isRefusal } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { addTag } from "../../road/record/add-tag.ts";
import type { EmbedTexts } from "./embeddings.ts";

const TIMEOUT_MS = 5_000;

/**
 * Embeds the question once with each model that the knowledge bases use. Models that are unavailable are skipped, with a tag on the call.
 */
export async function questionVectorsOf(
  embed: EmbedTexts,
  call: Call,
  text: string,
  bases: readonly KnowledgeBaseEntry[],
): Promise<Question["vectors"]> {
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
