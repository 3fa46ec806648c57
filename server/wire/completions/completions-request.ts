import type { JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { BodyChecks } from "../openai/body-checks.ts";
import { objectOf, wholeOf } from "../openai/loose-fields.ts";
import { openAiMembers, OpenAiRequest } from "../openai/openai-request.ts";
import { type RequestVisitor, visitRequestTexts } from "../openai/text-places.ts";
import type { OutboundChanges } from "../inbound.ts";
import { joinedInstructions, type SentSettings } from "../sent-settings.ts";

/** Estimate for prompts given as tokens. */
const CHARACTERS_A_TOKEN = 4;

const KNOWN = openAiMembers("prompt suffix");

/** A legacy completion request. Only what governance needs is read; everything else is left to the provider. */
export class CompletionsRequest extends OpenAiRequest {
  protected readonly inputName = "prompt";
  protected readonly known = KNOWN;
  protected readonly ceilings = ["max_tokens"] as const;
  private added: readonly string[] = [];

  constructor(document: JsonDocument) {
    super(document, null);
  }

  /** Whether the caller asked for the usage chunk of a stream. */
  get includesUsage(): boolean {
    return objectOf(this.body.stream_options)?.include_usage === true;
  }

  /** Whether the prompt is given as tokens: then no text can be inspected, replaced or prepended. */
  override get opaque(): boolean {
    const { prompt } = this.body;
    return Array.isArray(prompt) && typeof prompt[0] !== "string";
  }

  override get candidates(): number {
    return this.prompts * Math.max(wholeOf(this.body.n) ?? 1, wholeOf(this.body.best_of) ?? 1);
  }

  /** The number of choices returned, which may be fewer than are generated (`best_of`). */
  get choices(): number {
    return this.prompts * (wholeOf(this.body.n) ?? 1);
  }

  override get prompts(): number {
    const { prompt } = this.body;
    return Array.isArray(prompt) && typeof prompt[0] !== "number" ? prompt.length : 1;
  }

  override get inputCharacters(): number {
    return super.inputCharacters + CHARACTERS_A_TOKEN * tokensOf(this.body.prompt);
  }

  /** Characters of each choice that repeat the prompt and were not generated; infinite if the prompt is only scored. */
  get echoedCharacters(): number {
    if (this.body.echo !== true) return 0;
    return wholeOf(this.body.max_tokens) === 0 ? Number.POSITIVE_INFINITY : Math.ceil(this.inputCharacters / this.prompts);
  }

  /** Only the texts added by governance, because everything the caller wrote is prompt. */
  override get instructions(): string | null {
    return joinedInstructions(this.added);
  }

  override sentSettings(changes: OutboundChanges): SentSettings {
    return super.sentSettings(this.opaque ? { ...changes, systemPrompt: null } : changes);
  }

  /** The format has no instructions, so they are prepended to each prompt. */
  addInstructions(before: readonly string[], after: readonly string[]): void {
    const lines = [...before, ...after];
    if (lines.length === 0 || this.opaque) return;
    this.added = [...lines, ...this.added];
    this.body.prompt = prefixed(this.body.prompt, lines.join("\n")) as JsonObject[string];
    this.changed("prompt");
  }

  protected visitAll(visit: RequestVisitor): void {
    visitRequestTexts("user", this.body, "prompt", "prompt", visit);
    visitRequestTexts("user", this.body, "suffix", "suffix", visit);
  }

  protected promptEdit(systemPrompt: string): readonly [string, string] | null {
    return this.opaque ? null : ["prompt", JSON.stringify(prefixed(this.body.prompt, systemPrompt))];
  }

  /** Metering depends on usage, so streams always request it. */
  protected override ownEdits(edits: Map<string, string | null>): void {
    if (this.stream && !this.includesUsage)
      edits.set("stream_options", JSON.stringify({ ...objectOf(this.body.stream_options), include_usage: true }));
  }
}

/** `bytes` is the caller's body. Each problem names its field. */
export function readCompletionsRequest(bytes: Uint8Array): CompletionsRequest | { readonly fields: FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const checks = new BodyChecks(document.value);
  checks.model();
  if (!isPrompt(document.value.prompt))
    checks.add("prompt", "must be a string, an array of strings, an array of tokens or an array of arrays of tokens");
  checks.boolean("stream");
  checks.object("stream_options");
  checks.number("temperature");
  checks.whole("max_tokens");
  checks.whole("n", 1);
  checks.whole("best_of", 1);
  return checks.fields.length > 0 ? { fields: checks.fields } : new CompletionsRequest(document);
}

function isPrompt(prompt: unknown): boolean {
  if (typeof prompt === "string") return true;
  if (!Array.isArray(prompt) || prompt.length === 0) return false;
  const isToken = (value: unknown) => wholeOf(value) !== null;
  return (
    prompt.every((entry) => typeof entry === "string") ||
    prompt.every(isToken) ||
    prompt.every((entry) => Array.isArray(entry) && entry.length > 0 && entry.every(isToken))
  );
}

function tokensOf(prompt: unknown): number {
  if (!Array.isArray(prompt)) return 0;
  let tokens = 0;
  for (const entry of prompt) tokens += typeof entry === "number" ? 1 : Array.isArray(entry) ? entry.length : 0;
  return tokens;
}

function prefixed(prompt: unknown, text: string): unknown {
  return Array.isArray(prompt) ? prompt.map((entry) => `${text}\n\n${String(entry)}`) : `${text}\n\n${String(prompt)}`;
}
