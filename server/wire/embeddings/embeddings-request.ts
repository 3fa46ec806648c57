import type { JsonValue } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import type { InboundRequest, OutboundChanges, TextSlot } from "../inbound.ts";
import { knownMembers, otherTexts } from "../texts/other-texts.ts";
import { NOTHING_SENT, type SentSettings } from "../sent-settings.ts";
import { problemOfEmbeddingsInput } from "./embeddings-input.ts";

/** Members for model, user and format, and the input, which is inspected separately. */
const KNOWN = knownMembers({ read: "input", plain: "encoding_format user" });

/** POST /embeddings in OpenAI's format. */
export class EmbeddingsRequest implements InboundRequest {
  readonly stream = false;
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "input" };
  readonly temperature = null;
  readonly maxTokens = null;
  readonly candidates = 1;
  readonly tools: readonly string[] = [];
  readonly instructions = null;
  private readonly document: JsonDocument;

  constructor(document: JsonDocument) {
    this.document = document;
  }

  get model(): string | null {
    return (this.document.value.model as string | undefined) ?? null;
  }

  get modelId(): string | null {
    return (this.document.value.model_id as string | undefined) ?? null;
  }

  /** The texts to embed; null if tokens were sent instead. */
  get inputs(): readonly string[] | null {
    const { input } = this.document.value;
    if (typeof input === "string") return [input];
    return Array.isArray(input) && input.every((item) => typeof item === "string") ? input : null;
  }

  get prompts(): number {
    const { input } = this.document.value;
    return Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
  }

  get opaque(): boolean {
    return this.inputs === null;
  }

  get exactBody() {
    return this.body;
  }

  get repeatedName(): string | null {
    return this.document.repeatedName;
  }

  get dimensions(): number | null {
    return (this.document.value.dimensions as number | undefined) ?? null;
  }

  get encoding(): "float" | "base64" {
    return this.document.value.encoding_format === "base64" ? "base64" : "float";
  }

  get body() {
    return this.document.value;
  }

  sentSettings(): SentSettings {
    return NOTHING_SENT;
  }

  removeTools(): void {}
  addInstructions(): void {}

  /** The input, and members that some servers read in addition: an instruction, a query, or a conversation instead of texts. */
  texts(): readonly TextSlot[] {
    return [...otherTexts(this.document.value, KNOWN, (member) => this.document.touch(member)), ...this.inputTexts()];
  }

  private inputTexts(): readonly TextSlot[] {
    const { input } = this.document.value;
    if (typeof input === "string") return [this.slot(input, (text) => text)];
    if (!Array.isArray(input)) return [];
    return input.flatMap((item, i) =>
      typeof item !== "string"
        ? []
        : [
            this.slot(item, (text) => {
              input[i] = text;
              return input;
            }),
          ],
    );
  }

  definitions(): readonly TextSlot[] {
    return [];
  }

  get inputCharacters(): number {
    const { input } = this.document.value;
    if (typeof input === "string") return input.length;
    if (!Array.isArray(input)) return 0;
    let length = 0;
    // One token counts as four characters, as in all estimates.
    for (const item of input) length += typeof item === "string" ? item.length : 4 * (Array.isArray(item) ? item.length : 1);
    return length;
  }

  outbound({ model }: OutboundChanges): string {
    const edits = new Map<string, string | null>();
    if (this.modelId !== null) edits.set("model_id", null);
    if (this.model !== model) edits.set("model", JSON.stringify(model));
    return this.document.text(edits);
  }

  private slot(text: string, replaced: (text: string) => JsonValue): TextSlot {
    return { role: "user", kind: "text", text, replace: (value) => this.document.set("input", replaced(value)) };
  }
}

/** Each problem names its field. */
export function readEmbeddingsRequest(bytes: Uint8Array): EmbeddingsRequest | { readonly fields: readonly FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  // Null counts as absent, as in all other formats.
  const [model, modelId, input, dimensions, encoding] = ["model", "model_id", "input", "dimensions", "encoding_format"].map(
    (name) => document.value[name] ?? undefined,
  );
  const fields: FieldProblem[] = [];
  if (model !== undefined && (typeof model !== "string" || model === "")) fields.push({ field: "model", message: "must be a text" });
  if (modelId !== undefined && (typeof modelId !== "string" || modelId === ""))
    fields.push({ field: "model_id", message: "must be a text" });
  if (model === undefined && modelId === undefined) fields.push({ field: "model", message: "is required (or `model_id`)" });
  const inputProblem = problemOfEmbeddingsInput(input);
  if (inputProblem !== null) fields.push(inputProblem);
  if (dimensions !== undefined && (typeof dimensions !== "number" || !Number.isInteger(dimensions) || dimensions < 1))
    fields.push({ field: "dimensions", message: "must be a whole number above 0" });
  if (encoding !== undefined && encoding !== "float" && encoding !== "base64")
    fields.push({ field: "encoding_format", message: "must be float or base64" });
  return fields.length > 0 ? { fields } : new EmbeddingsRequest(document);
}
