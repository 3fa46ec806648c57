import type { JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { BodyChecks } from "../openai/body-checks.ts";
import { objectOf, wholeOf } from "../openai/loose-fields.ts";
import { openAiMembers, OpenAiRequest } from "../openai/openai-request.ts";
import { type RequestVisitor, visitRequestTexts } from "../openai/text-places.ts";
import type { OutboundChanges } from "../inbound.ts";
import { joinedInstructions, type SentSettings } from "../sent-settings.ts";

/** A token is about four characters: for prompts that come as tokens. */
const CHARACTERS_A_TOKEN = 4;

const KNOWN = openAiMembers("prompt suffix");

/** A legacy completion request: what governance reads of it. Everything else is the provider's business. */
export class CompletionsRequest extends OpenAiRequest {
  protected readonly inputName = "prompt";
  protected readonly known = KNOWN;
  protected readonly ceilings = ["max_tokens"] as const;
  private added: readonly string[] = [];

  constructor(document: JsonDocument) {
    super(document, null);
  }

  /** Whether the caller asked for the usage frame of a stream. */
  get includesUsage(): boolean {
    return objectOf(this.body.stream_options)?.include_usage === true;
  }

  /** Whether the prompt came as tokens: then no text can be read, replaced or put before it. */
  override get opaque(): boolean {
    const { prompt } = this.body;
    return Array.isArray(prompt) && typeof prompt[0] !== "string";
  }

  override get candidates(): number {
    return this.prompts * Math.max(wholeOf(this.body.n) ?? 1, wholeOf(this.body.best_of) ?? 1);
  }

  /** Answers that come back: the best of those that are made. */
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

  /** How much of each choice's text is the prompt once more, which no model writes: scoring a prompt asks for nothing else. */
  get echoedCharacters(): number {
    if (this.body.echo !== true) return 0;
    return wholeOf(this.body.max_tokens) === 0 ? Number.POSITIVE_INFINITY : Math.ceil(this.inputCharacters / this.prompts);
  }

  /** What the caller wrote is all prompt: these are what governance put before it. */
  override get instructions(): string | null {
    return joinedInstructions(this.added);
  }

  override sentSettings(changes: OutboundChanges): SentSettings {
    return super.sentSettings(this.opaque ? { ...changes, systemPrompt: null } : changes);
  }

  /** The format has no place of its own for instructions: they are put before each prompt. */
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

  /** Usage is what metering stands on, so a stream is always asked for it. */
  protected override ownEdits(edits: Map<string, string | null>): void {
    if (this.stream && !this.includesUsage)
      edits.set("stream_options", JSON.stringify({ ...objectOf(this.body.stream_options), include_usage: true }));
  }
}

/** `bytes` as the caller sent them; every problem names its field. */
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
