import { isObject, type JsonObject } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { BodyChecks, MAX_PROBLEMS } from "./body-checks.ts";
import { chatRoleOf, visitChatDefinitions, visitChatMessage, visitPrediction } from "./chat-text-places.ts";
import { objectOf } from "./loose-fields.ts";
import { openAiToolNames, toolsWithout } from "./offered-tools.ts";
import { openAiMembers, OpenAiRequest } from "./openai-request.ts";
import { type RequestVisitor, visitEvery } from "./text-places.ts";
import { TextMeasure } from "./text-measure.ts";

/** What `web_search_options` offers the model, by the name the same tool has elsewhere. */
const WEB_SEARCH = "web_search";

const KNOWN = openAiMembers("messages documents prediction");

/** A chat completion request: what governance reads of it. Everything else is the provider's business. */
export class ChatRequest extends OpenAiRequest {
  protected readonly inputName = "messages";
  protected readonly known = KNOWN;
  protected readonly ceilings = ["max_completion_tokens", "max_tokens"] as const;

  /** Whether the caller asked for the usage frame of a stream. */
  get includesUsage(): boolean {
    return objectOf(this.body.stream_options)?.include_usage === true;
  }

  /** Whether its vendor searches the web for the answer, unless governance took that away. */
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

  /** Usage is what metering stands on, so a stream is always asked for it; the stream codec hides the frame from who did not ask. */
  protected override ownEdits(edits: Map<string, string | null>): void {
    if (this.stream && !this.includesUsage)
      edits.set("stream_options", JSON.stringify({ ...objectOf(this.body.stream_options), include_usage: true }));
  }

  private get messages(): JsonObject[] {
    return this.body.messages as JsonObject[];
  }

  /** In the caller's own word for it: a model may refuse the two words side by side. */
  private systemMessage(content: string): JsonObject {
    const first = this.messages.find(({ role }) => chatRoleOf(role) === "system");
    return { role: first?.role ?? "system", content };
  }
}

/** `bytes` as the caller sent them; every problem names its field. */
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
  // Some servers take 0 for no ceiling at all, and budgets hold nothing for it.
  checks.whole("max_completion_tokens", 1);
  checks.whole("max_tokens", 1);
  checks.whole("n", 1);
  return checks.fields.length > 0 ? { fields: checks.fields } : new ChatRequest(document, measure);
}

/** One pass: checked and measured together. */
function checkMessages(messages: unknown, checks: BodyChecks, measure: TextMeasure): void {
  if (!Array.isArray(messages) || messages.length === 0) return checks.add("messages", "must be a non-empty array");
  for (let i = 0; i < messages.length && checks.fields.length < MAX_PROBLEMS; i++) {
    const message: unknown = messages[i];
    if (!isObject(message)) checks.add(`messages[${i}]`, "must be an object");
    else if (typeof message.role !== "string") checks.add(`messages[${i}].role`, "must be a string");
    else visitChatMessage(message, measure.visit);
  }
}
