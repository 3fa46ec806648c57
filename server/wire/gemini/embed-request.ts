import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import type { InboundRequest, OutboundChanges, TextSlot } from "../inbound.ts";
import { knownMembers, otherTexts } from "../texts/other-texts.ts";
import { NOTHING_SENT, type SentSettings } from "../sent-settings.ts";
import { checkEmbedEntry } from "./embed-entry.ts";
import { camelName, spellingIn } from "./member-names.ts";
import { numberIn, objectIn, objectsIn, textIn } from "./members.ts";
import { qualifiedModel } from "./model-name.ts";
import { contentSlots, textSlot } from "./texts.ts";

const MAX_PROBLEMS = 20;
const KNOWN = knownMembers({ read: "content title", plain: "taskType task_type" });

/** An `:embedContent` request, or `:batchEmbedContents` with a list of them. */
export class GeminiEmbeddingsRequest implements InboundRequest {
  readonly modelId = null;
  readonly stream = false;
  readonly temperature = null;
  readonly maxTokens = null;
  readonly candidates = 1;
  readonly tools: readonly string[] = [];
  readonly instructions = null;
  readonly opaque = false;
  readonly model: string;
  /** Whether it is `:embedContent`, which is answered with a single embedding. */
  readonly single: boolean;
  private readonly document: JsonDocument;

  /** `model` is the name in the URL. */
  constructor(document: JsonDocument, model: string, single: boolean) {
    this.document = document;
    this.model = model;
    this.single = single;
  }

  sentSettings(): SentSettings {
    return NOTHING_SENT;
  }

  get names() {
    return { temperature: "temperature", maxTokens: "maxOutputTokens", input: this.single ? "content" : "requests" };
  }

  get body(): JsonObject {
    return this.document.value;
  }

  get exactBody(): JsonObject {
    return this.body;
  }

  get repeatedName(): string | null {
    return this.document.repeatedName;
  }

  get prompts(): number {
    return this.entries.length;
  }

  /** The texts to embed, one per vector; null if the input contains anything other than text. */
  get inputs(): readonly string[] | null {
    const texts: string[] = [];
    for (const entry of this.entries) {
      const parts = objectsIn(objectIn(entry, "content") ?? {}, "parts");
      if (!parts.every((part) => textIn(part, "text") !== null)) return null;
      texts.push(parts.map((part) => textIn(part, "text")).join(""));
    }
    return texts;
  }

  /** The requested vector length; null if not set or not the same for all. */
  get dimensions(): number | null {
    const [first, ...others] = new Set(this.entries.map((entry) => numberIn(entry, "outputDimensionality")));
    return first === undefined || others.length > 0 ? null : first;
  }

  /** Settings that only Google's models support, by the caller's names. */
  get particular(): readonly string[] {
    const names = new Set(this.entries.flatMap((entry) => Object.keys(entry).filter((name) => entry[name] !== null)));
    return [...names].filter((name) => !["content", "model", "outputDimensionality"].includes(camelName(name)));
  }

  get inputCharacters(): number {
    let length = 0;
    for (const { text } of this.texts()) length += text.length;
    return length;
  }

  removeTools(): void {}
  addInstructions(): void {}

  texts(): readonly TextSlot[] {
    return this.entries.flatMap((entry) => {
      const others = otherTexts(entry, KNOWN, (member) => this.touch(entry, member));
      const content = contentSlots(objectIn(entry, "content") ?? {}, "user", () => this.touch(entry, "content"), others);
      return [...others, ...textSlot(entry, "title", "user", () => this.touch(entry, "title")), ...content];
    });
  }

  definitions(): readonly TextSlot[] {
    return [];
  }

  /** Always a `:batchEmbedContents` body, which every server of the format accepts. */
  outbound({ model }: OutboundChanges): string {
    const name = qualifiedModel(model);
    return JSON.stringify({ requests: this.entries.map((entry) => ({ ...inCamelCase(entry), model: name })) });
  }

  private get entries(): readonly JsonObject[] {
    return this.single ? [this.body] : objectsIn(this.body, "requests");
  }

  private touch(entry: JsonObject, name: string): void {
    this.document.touch(this.single ? spellingIn(entry, name) : "requests");
  }
}

function inCamelCase(entry: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(entry).map(([name, value]) => [camelName(name), value])) as JsonObject;
}

/** Each problem names its field. */
export function readGeminiEmbeddingsRequest(
  bytes: Uint8Array,
  model: string,
  single: boolean,
): GeminiEmbeddingsRequest | { readonly fields: readonly FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields: FieldProblem[] = [];
  if (single) checkEmbedEntry(document.value, "", fields);
  else {
    const { requests } = document.value;
    if (!Array.isArray(requests) || requests.length === 0) fields.push({ field: "requests", message: "must be a non-empty array" });
    else
      for (const [i, entry] of requests.entries()) {
        if (fields.length >= MAX_PROBLEMS) break;
        if (isObject(entry)) checkEmbedEntry(entry, `requests[${i}].`, fields);
        else fields.push({ field: `requests[${i}]`, message: "must be an object" });
      }
  }
  return fields.length > 0 ? { fields: fields.slice(0, MAX_PROBLEMS) } : new GeminiEmbeddingsRequest(document, model, single);
}
