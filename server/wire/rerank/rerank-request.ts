import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import type { TextSlot } from "../inbound.ts";
import { knownMembers, otherSlots, otherTexts, visitData } from "../texts/other-texts.ts";
import { modelProblems, PromptedRequest } from "../prompted-request.ts";
import { type Reranking, rerankingOf } from "./reranking.ts";

const KNOWN = knownMembers({ read: "query documents", plain: "user" });
/** The number of results, as named by Cohere and Jina, and by Voyage. */
const COUNTS = ["top_n", "top_k"] as const;

/** POST /rerank in the form used by clients of Cohere, Jina, Voyage and servers like vLLM. */
export class RerankRequest extends PromptedRequest {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "query" };

  get query(): JsonValue {
    return this.document.value.query as JsonValue;
  }

  get documents(): readonly JsonValue[] {
    return this.document.value.documents as JsonValue[];
  }

  /** Null for all documents. */
  get topN(): number | null {
    return (COUNTS.map((name) => this.document.value[name]).find((count) => count != null) as number | undefined) ?? null;
  }

  get returnsDocuments(): boolean {
    return this.document.value.return_documents === true;
  }

  get reranking(): Reranking {
    return rerankingOf(this.query, this.documents);
  }

  /** The query counts once for each document, because the model reads it each time. */
  override get inputCharacters(): number {
    return this.documents.length * lengthOf(this.query) + this.documents.reduce<number>((sum, one) => sum + lengthOf(one), 0);
  }

  texts(): readonly TextSlot[] {
    const { value } = this.document;
    const slots = otherTexts(value, KNOWN, (member) => this.document.touch(member));
    for (const member of ["query", "documents"])
      visitData(
        value,
        member,
        otherSlots(slots, "user", () => this.document.touch(member)),
      );
    return slots;
  }
}

function lengthOf(passage: JsonValue): number {
  return typeof passage === "string" ? passage.length : JSON.stringify(passage).length;
}

/** Each problem names its field. */
export function readRerankRequest(bytes: Uint8Array): RerankRequest | { readonly fields: readonly FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = modelProblems(document);
  const { query, documents } = document.value;
  if (!isPassage(query)) fields.push({ field: "query", message: "must be a text" });
  if (!Array.isArray(documents) || documents.length === 0 || !documents.every(isPassage))
    fields.push({ field: "documents", message: "must be a list of texts, or of objects that hold texts" });
  for (const name of COUNTS) {
    const written = document.value[name] ?? null;
    if (written !== null && !(typeof written === "number" && Number.isSafeInteger(written) && written >= 1))
      fields.push({ field: name, message: "must be a whole number above 0" });
  }
  return fields.length > 0 ? { fields } : new RerankRequest(document);
}

function isPassage(value: JsonValue | undefined): boolean {
  return typeof value === "string" ? value !== "" : isObject(value ?? null);
}
