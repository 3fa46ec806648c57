import type { Snapshots } from "../../directory/snapshots.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isRefusal } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { type DocumentToIndex, type NewChunk, WaitingDocuments } from "../../directory/knowledge/waiting-documents.ts";
import type { Directory } from "../../directory/writes/write.ts";
import type { ReadPassages } from "./document-reader.ts";
import { UnreadableDocument } from "./reading/document-text.ts";
import type { EmbedTexts } from "./embeddings.ts";
import { ownCall } from "./own-call.ts";
import type { SplitPassage } from "./split-document.ts";

export interface IndexingParts {
  readonly db: Directory["db"];
  readonly snapshots: Pick<Snapshots, "scope">;
  readonly embed: EmbedTexts;
  readonly read: ReadPassages;
  readonly clock: Clock;
  readonly log: Log;
}

/** After this time a run stops taking documents; the job's next run continues. */
const AT_A_TIME_MS = 5_000;
const TIMEOUT_MS = 60_000;
const TEXTS_AT_ONCE = 32;
const ATTEMPTS = 8;
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 5 * 60_000;

/** Indexing cannot finish now and is retried later. */
class Postponed extends Error {
  /** Whether it counts towards the attempts after which the document fails. */
  readonly counts: boolean;
  constructor(reason: string, counts: boolean) {
    super(reason);
    this.name = "Postponed";
    this.counts = counts;
  }
}

/** One document can be read while another waits for its vectors. Not more: each keeps a document and its passages in memory. */
const AT_ONCE = 2;

/** Indexes queued documents for a limited time. Costs a single query if none is queued. */
export async function indexDocuments(parts: IndexingParts): Promise<void> {
  const waiting = new WaitingDocuments(parts.db);
  const first = await waiting.takeUp();
  if (first === null) return;
  const others = Array.from({ length: AT_ONCE - 1 }, () => indexSome(parts, waiting));
  await Promise.all([indexOne(parts, waiting, first).then(() => indexSome(parts, waiting)), ...others]);
}

async function indexSome(parts: IndexingParts, waiting: WaitingDocuments): Promise<void> {
  const until = performance.now() + AT_A_TIME_MS;
  while (performance.now() < until) {
    const document = await waiting.takeUp();
    if (document === null) return;
    await indexOne(parts, waiting, document);
  }
}

async function indexOne(parts: IndexingParts, waiting: WaitingDocuments, document: DocumentToIndex): Promise<void> {
  const { log } = parts;
  // The process that made the last attempt died, perhaps because of this document.
  if (document.attempts > ATTEMPTS) return waiting.fail(document, `Processing it was broken off. Given up after ${ATTEMPTS} attempts.`);
  let chunks: readonly NewChunk[] | null = null;
  try {
    chunks = await chunksOf(parts, document);
    await embedMissing(parts, waiting, document, chunks);
    await waiting.finish(document, chunks);
  } catch (error) {
    if (error instanceof UnreadableDocument) return waiting.fail(document, error.message);
    const reason = error instanceof Postponed ? error.message : "The gateway could not process it.";
    if (!(error instanceof Postponed)) log.error("document_not_indexed", { document_id: document.id, error: error as Error });
    const counts = !(error instanceof Postponed) || error.counts;
    if (counts && document.attempts >= ATTEMPTS) {
      const why = `${reason} Given up after ${ATTEMPTS} attempts.`;
      // The text could be read, so keep it searchable by full text without vectors.
      if (error instanceof Postponed && chunks !== null) return waiting.finish(document, chunks, why);
      return waiting.fail(document, why);
    }
    const pause = counts ? Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** document.attempts) : FIRST_PAUSE_MS * 5;
    await waiting.postpone(document, `${reason} It is tried again.`, pause, counts);
  }
}

async function chunksOf(parts: IndexingParts, document: DocumentToIndex): Promise<NewChunk[]> {
  const passages = await parts.read(document.kind, document.content);
  return passages.map((passage, ordinal) => {
    const indexed = indexedText(document.name, passage);
    return {
      document_id: document.id,
      ordinal,
      knowledge_base_id: document.knowledge_base_id,
      tenant_id: document.tenant_id,
      heading: passage.heading,
      body: passage.text,
      tokens: passage.tokens,
      digest: sha256Hex(indexed),
      indexed,
    };
  });
}

/** The text to index: the document's name and headings give the passage its context. */
const indexedText = (name: string, { heading, text }: SplitPassage) => [name, heading, text].filter((part) => part !== "").join("\n");

/** Embeds the texts that have no vectors yet. Each batch is stored at once, because it has been paid for. */
async function embedMissing(
  { snapshots, embed, clock }: IndexingParts,
  waiting: WaitingDocuments,
  document: DocumentToIndex,
  chunks: readonly NewChunk[],
): Promise<void> {
  const { group_id: groupId, embedding_model_id: modelId } = document;
  if (modelId === null) return;
  if (groupId === null)
    throw new Postponed("No resource group pays for embedding it: set indexing_group_id, or grant the knowledge base to a group.", false);
  const scope = await snapshots.scope(document.tenant_id, groupId);
  const model = scope?.tenant.models.get(modelId);
  if (scope === null || model === undefined) throw new Postponed("The embedding model is not there.", true);
  if (!model.enabled) throw new Postponed("The embedding model is switched off.", false);
  const embedded = await waiting.embedded(document, modelId);
  const texts = new Map(chunks.map(({ digest, indexed }) => [digest, indexed]));
  const wanted = [...texts].filter(([digest]) => !embedded.has(digest));
  const parent = ownCall(scope, document.id, clock);
  for (let from = 0; from < wanted.length; from += TEXTS_AT_ONCE) {
    if (!(await waiting.hold(document))) throw new Postponed("It changed meanwhile.", false);
    const batch = wanted.slice(from, from + TEXTS_AT_ONCE);
    const found = await embed(
      parent,
      model,
      batch.map(([, text]) => text),
      { timeoutMs: TIMEOUT_MS, ofCaller: false },
    );
    if (isRefusal(found)) throw new Postponed(`It could not be embedded: ${found.message}`, true);
    await waiting.keep(
      document,
      modelId,
      batch.map(([digest], i) => [digest, found[i] as Float32Array]),
    );
  }
}
