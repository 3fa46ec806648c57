import type { FieldProblem, JsonDocument } from "./json/document.ts";
import type { InboundRequest, OutboundChanges, TextSlot } from "./inbound.ts";
import { NOTHING_SENT, type SentSettings } from "./sent-settings.ts";

/** A single-turn request in an OpenAI format, without a conversation and without tools. */
export abstract class PromptedRequest implements InboundRequest {
  readonly stream: boolean = false;
  abstract readonly names: InboundRequest["names"];
  readonly temperature = null;
  readonly maxTokens = null;
  readonly tools: readonly string[] = [];
  readonly instructions = null;
  readonly opaque = false;
  readonly prompts: number = 1;
  protected readonly document: JsonDocument;

  constructor(document: JsonDocument) {
    this.document = document;
  }

  get model(): string | null {
    return (this.document.value.model as string | null | undefined) ?? null;
  }

  get modelId(): string | null {
    return (this.document.value.model_id as string | null | undefined) ?? null;
  }

  get candidates(): number {
    return 1;
  }

  get body() {
    return this.document.value;
  }

  get exactBody() {
    return this.document.value;
  }

  get repeatedName(): string | null {
    return this.document.repeatedName;
  }

  get inputCharacters(): number {
    return this.texts().reduce((sum, { text }) => sum + text.length, 0);
  }

  /** The length of all texts in Unicode code points, as media governance counts it. */
  protected get writtenCharacters(): number {
    return this.texts().reduce((sum, { text }) => sum + codePointsOf(text), 0);
  }

  sentSettings(): SentSettings {
    return NOTHING_SENT;
  }

  removeTools(): void {}
  addInstructions(): void {}

  definitions(): readonly TextSlot[] {
    return [];
  }

  abstract texts(): readonly TextSlot[];

  outbound({ model }: Pick<OutboundChanges, "model">, further: ReadonlyMap<string, string | null> = new Map()): string {
    const edits = new Map(further);
    if (this.document.has("model_id")) edits.set("model_id", null);
    if (this.model !== model) edits.set("model", JSON.stringify(model));
    return this.document.text(edits);
  }
}

export function codePointsOf(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The problems with the body's `model` or `model_id`. */
export function modelProblems({ value }: JsonDocument): FieldProblem[] {
  const named = ["model", "model_id"].filter((name) => (value[name] ?? null) !== null);
  if (named.length === 0) return [{ field: "model", message: "is required (or `model_id`)" }];
  return named.flatMap((field) => (typeof value[field] === "string" && value[field] !== "" ? [] : [{ field, message: "must be a text" }]));
}
