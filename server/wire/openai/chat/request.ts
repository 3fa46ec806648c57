import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../../json/document.ts";
import { BodyChecks, MAX_PROBLEMS } from "../body-checks.ts";
import { chatRoleOf, visitChatDefinitions, visitChatMessage, visitPrediction } from "./text-places.ts";
import { objectOf } from "../loose-fields.ts";
import { openAiToolNames, toolsWithout } from "../offered-tools.ts";
import { openAiMembers, OpenAiRequest } from "../openai-request.ts";
import { type RequestVisitor, visitEvery } from "../text-places.ts";
import { TextMeasure } from "../text-measure.ts";

/** The tool that `web_search_options` offers, by its name in other formats. */
const WEB_SEARCH = "web_search";

const KNOWN = openAiMembers("messages documents prediction");

/** A chat completion request. Only what governance needs is read; everything else is left to the provider. */
export class ChatRequest extends OpenAiRequest {
  protected readonly inputName = "messages";
  protected readonly known = KNOWN;
  protected readonly ceilings = ["max_completion_tokens", "max_tokens"] as const;

  /** Whether the caller asked for the usage chunk of a stream. */
  get includesUsage(): boolean {
    return objectOf(this.body.stream_options)?.include_usage === true;
  }

  /** Whether the vendor searches the web for the answer, unless governance removed the option. */
  get searchesWeb(): boolean {
    return isObject(this.body.web_search_options);
  }

  override get tools(): readonly string[] {
    const names = [...super.tools, ...openAiToolNames(this.body.functions)];
    if (this.searchesWeb) names.push(WEB_SEARCH);
    return names;
  }

  override removeTools(names: ReadonlySet<string>): void {
    super.removeTools(names);
    const kept = toolsWithout(this.body.functions, names);
    if (kept !== null) {
      this.document.set("functions", kept.length === 0 ? undefined : kept);
      const choice = objectOf(this.body.function_call);
      if (this.document.has("function_call") && (kept.length === 0 || (choice !== null && names.has(String(choice.name)))))
        this.document.set("function_call", undefined);
    }
    if (names.has(WEB_SEARCH) && this.document.has("web_search_options")) this.document.set("web_search_options", undefined);
  }

  addInstructions(before: readonly string[], after: readonly string[]): void {
    const { messages } = this;
    if (after.length > 0) {
      const last = messages.findLastIndex(({ role }) => chatRoleOf(role) === "system");
      messages.splice(last + 1, 0, this.systemMessage(after.join("\n")));
    }
    if (before.length > 0) messages.unshift(this.systemMessage(before.join("\n")));
    if (before.length + after.length > 0) this.changed("messages");
  }

  protected visitAll(visit: RequestVisitor): void {
    visitChatDefinitions(this.body, visit);
    visitEvery("user", this.body, "documents", "documents", visit);
    for (const message of this.messages) {
      this.visited = message;
      visitChatMessage(message, visit);
    }
    this.visited = null;
    visitPrediction(this.body, visit);
  }

  protected promptEdit(systemPrompt: string): readonly [string, string] {
    const array = this.document.memberText("messages") ?? "[]";
    return ["messages", `[${JSON.stringify(this.systemMessage(systemPrompt))},${array.slice(array.indexOf("[") + 1)}`];
  }

  /** Metering depends on usage, so streams always request it; the stream codec hides the chunk from callers that did not. */
  protected override ownEdits(edits: Map<string, string | null>): void {
    if (this.stream && !this.includesUsage)
      edits.set("stream_options", JSON.stringify({ ...objectOf(this.body.stream_options), include_usage: true }));
  }

  private get messages(): JsonObject[] {
    return this.body.messages as JsonObject[];
  }

  /** Uses the caller's role, `system` or `developer`, because models may refuse both in one request. */
  private systemMessage(content: string): JsonObject {
    const first = this.messages.find(({ role }) => chatRoleOf(role) === "system");
    return { role: first?.role ?? "system", content };
  }
}

/** `bytes` is the caller's body; each problem names its field. */
export function readChatRequest(bytes: Uint8Array): ChatRequest | { readonly fields: FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const checks = new BodyChecks(document.value);
  checks.model();
  const measure = new TextMeasure();
  visitChatDefinitions(document.value, measure.visit);
  visitEvery("user", document.value, "documents", "documents", measure.visit);
  checkMessages(document.value.messages, checks, measure);
  visitPrediction(document.value, measure.visit);
  checks.boolean("stream");
  checks.object("stream_options");
  checks.number("temperature");
  checks.tools("tools");
  checks.tools("functions");
  // Some servers treat 0 as unlimited, so budgets could not reserve anything.
  checks.whole("max_completion_tokens", 1);
  checks.whole("max_tokens", 1);
  checks.whole("n", 1);
  return checks.fields.length > 0 ? { fields: checks.fields } : new ChatRequest(document, measure);
}

/** Validates and measures in a single pass. */
function checkMessages(messages: unknown, checks: BodyChecks, measure: TextMeasure): void {
  if (!Array.isArray(messages) || messages.length === 0) return checks.add("messages", "must be a non-empty array");
  for (let i = 0; i < messages.length && checks.fields.length < MAX_PROBLEMS; i++) {
    const message: unknown = messages[i];
    if (!isObject(message)) checks.add(`messages[${i}]`, "must be an object");
    else if (typeof message.role !== "string") checks.add(`messages[${i}].role`, "must be a string");
    else visitChatMessage(message, measure.visit);
  }
}
