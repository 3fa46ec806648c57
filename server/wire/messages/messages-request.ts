import { definitionTexts } from "../texts/definition-texts.ts";
import { isObject, type JsonObject, type JsonValue } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { withExactTools } from "../json/exact-tools.ts";
import { nameTexts } from "../texts/name-texts.ts";
import type { ConversationInbound, OutboundChanges, TextSlot } from "../inbound.ts";
import { joinedInstructions, type SentSettings } from "../sent-settings.ts";
import { takesTemperatureWithTopP } from "./claude-sampling.ts";
import { isContinuedWithoutThinking, historyForClaude } from "./claude-history.ts";
import { claudeThinking } from "./claude-thinking.ts";
import { agreedSettings, type SentByCaller, thinks } from "./agreed-settings.ts";
import { versionProblems, refusesSampling } from "./messages-version.ts";
import { requestProblems } from "./request-checks.ts";
import { textSlots } from "./text-slots.ts";
import { definitionsBetween, removeToolsBetween, toolsBetween } from "./tools-between.ts";

export { versionProblems };

/** The type of entries for tools of MCP servers, which the vendor calls; an older version of the feature offers all tools without one. */
const TOOL_SERVERS = "mcp_toolset";

export interface MessagesReading {
  /** False for a count_tokens body: it needs no output limit, and gets no defaults, which the vendor refuses there. */
  readonly maxTokensRequired: boolean;
  /** The `anthropic-version` header: settings that this version refuses are reported, and not added as defaults. */
  readonly version?: string;
}

/** Reads and validates a Messages or count_tokens body; problems name fields such as `messages[3].content[0].text`. */
export function readMessagesRequest(bytes: Uint8Array, reading: MessagesReading): MessagesRequest | { fields: FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = requestProblems(document.value, !reading.maxTokensRequired);
  if (reading.version !== undefined) fields.push(...versionProblems(document.value, reading.version));
  return fields.length > 0 ? { fields } : new MessagesRequest(document, reading);
}

export class MessagesRequest implements ConversationInbound {
  readonly names = { temperature: "temperature", maxTokens: "max_tokens", input: "messages" };
  readonly opaque = false;
  readonly prompts = 1;
  private readonly document: JsonDocument;
  private readonly reading: MessagesReading;
  private slots: readonly TextSlot[] | null = null;
  /** The caller's values; controls may set others. */
  private readonly sent: SentByCaller;

  constructor(document: JsonDocument, reading: MessagesReading) {
    this.document = document;
    this.reading = reading;
    this.sent = { temperature: this.temperature, maxTokens: this.maxTokens };
  }

  get exactBody(): JsonObject {
    return withExactTools(this.body, this.document.text());
  }

  get repeatedName(): string | null {
    return this.document.repeatedName;
  }

  get body(): JsonObject {
    return this.document.value;
  }

  takeOut(name: string): JsonValue | undefined {
    return this.document.takeOut(name);
  }

  get model(): string | null {
    return (this.body.model as string | null | undefined) ?? null;
  }

  get modelId(): string | null {
    return (this.body.model_id as string | null | undefined) ?? null;
  }

  get stream(): boolean {
    return this.body.stream === true;
  }

  get temperature(): number | null {
    return (this.body.temperature as number | null | undefined) ?? null;
  }

  set temperature(value: number | null) {
    this.document.set("temperature", value ?? undefined);
  }

  get maxTokens(): number | null {
    return (this.body.max_tokens as number | null | undefined) ?? null;
  }

  set maxTokens(value: number | null) {
    this.document.set("max_tokens", value ?? undefined);
  }

  get candidates(): number {
    return 1;
  }

  get tools(): readonly string[] {
    const names = [...this.toolList, ...toolsBetween(this.body)].map(toolName);
    return this.hasToolServers && !names.includes(TOOL_SERVERS) ? [...names, TOOL_SERVERS] : names;
  }

  removeTools(names: ReadonlySet<string>): void {
    const between = removeToolsBetween(this.body, (tool) => names.has(toolName(tool)));
    if (between) {
      this.document.touch("messages");
      this.slots = null;
    }
    if (this.hasToolServers && names.has(TOOL_SERVERS)) this.document.set("mcp_servers", undefined);
    const tools = this.toolList;
    const kept = tools.filter((tool) => !names.has(toolName(tool)));
    if (kept.length === tools.length && !between) return;
    if (kept.length < tools.length) this.document.set("tools", kept.length === 0 ? undefined : kept);
    const choice = this.body.tool_choice;
    const forced = isObject(choice) && choice.type === "tool" && typeof choice.name === "string" && names.has(choice.name);
    // The vendor refuses a tool choice without tools, or of a missing tool.
    if (choice !== undefined && (this.tools.length === 0 || forced)) this.document.set("tool_choice", undefined);
  }

  get instructions(): string | null {
    const parts: string[] = [];
    for (const slot of this.texts()) if (slot.role === "system") parts.push(slot.text);
    return parts.length === 0 ? null : parts.join("\n");
  }

  addInstructions(before: readonly string[], after: readonly string[]): void {
    if (before.length === 0 && after.length === 0) return;
    this.document.set("system", withInstructions(this.body.system, before, after));
    this.slots = null;
  }

  texts(): readonly TextSlot[] {
    this.slots ??= textSlots(
      this.body,
      (member) => this.document.touch(member),
      (input) => this.document.written("messages", input),
    );
    return this.slots;
  }

  definitions(): readonly TextSlot[] {
    const touch = (member: string) => this.document.touch(member);
    return [
      ...definitionTexts(this.body, ["tools", "output_format", "output_config"], touch),
      ...definitionTexts({ tools: definitionsBetween(this.body) }, ["tools"], () => touch("messages")),
      ...nameTexts(this.body, ["messages", "tools", "tool_choice", "mcp_servers"], touch),
    ];
  }

  get inputCharacters(): number {
    return this.texts().reduce((sum, slot) => sum + slot.text.length, 0);
  }

  outbound(changes: OutboundChanges): string {
    const edits = new Map<string, string | null>();
    if (this.body.model_id !== undefined) edits.set("model_id", null);
    if (this.model !== changes.model) edits.set("model", JSON.stringify(changes.model));
    if (changes.systemPrompt !== null) edits.set("system", JSON.stringify(withInstructions(this.body.system, [changes.systemPrompt], [])));
    const { maxTokensRequired: answering } = this.reading;
    const sampling = this.samples(changes);
    const temperature = this.defaultFor(changes);
    if (temperature !== null) edits.set("temperature", JSON.stringify(temperature));
    // Values set by a control are left out if the vendor would refuse them; the caller's own values are left to the vendor.
    if (!sampling && this.temperature !== null && this.temperature !== this.sent.temperature) edits.set("temperature", null);
    if (!answering && this.maxTokens !== null && this.sent.maxTokens === null) edits.set("max_tokens", null);
    for (const [name, value] of Object.entries(agreedSettings(this.body, this.sent, changes.model)))
      edits.set(name, value === null ? null : JSON.stringify(value));
    if (answering && this.maxTokens === null && changes.defaultMaxTokens !== null)
      edits.set("max_tokens", JSON.stringify(changes.defaultMaxTokens));
    const history = historyForClaude(this.body.messages, changes.model);
    if (history !== null) {
      edits.set("messages", this.document.written("messages", history));
      if (claudeThinking(changes.model) === "budget" && isContinuedWithoutThinking(history)) edits.set("thinking", null);
    }
    return this.document.text(edits);
  }

  sentSettings(changes: OutboundChanges): SentSettings {
    const { maxTokensRequired: answering } = this.reading;
    return {
      temperature: this.sentTemperature(changes),
      maxTokens: answering ? (this.maxTokens ?? changes.defaultMaxTokens) : this.sent.maxTokens === null ? null : this.maxTokens,
      instructions: joinedInstructions([changes.systemPrompt, this.instructions]),
    };
  }

  private sentTemperature(changes: OutboundChanges): number | null {
    if (agreedSettings(this.body, this.sent, changes.model).temperature === null) return null;
    if (this.samples(changes)) return this.temperature ?? this.defaultFor(changes);
    return this.temperature === this.sent.temperature ? this.temperature : null;
  }

  /** The model's default temperature, unless the caller set sampling: newer Claude models refuse it with `top_p`, and all with thinking. */
  private defaultFor(changes: OutboundChanges): number | null {
    const besideTopP = (this.body.top_p ?? null) === null || takesTemperatureWithTopP(changes.model);
    const leftToModel = this.temperature === null && besideTopP && !thinks(this.body);
    return leftToModel && this.samples(changes) ? changes.defaultTemperature : null;
  }

  private samples({ sampling }: OutboundChanges): boolean {
    const { maxTokensRequired: answering, version } = this.reading;
    return answering && sampling !== false && !refusesSampling(version);
  }

  private get hasToolServers(): boolean {
    return isObject(this.body.mcp_servers) || (Array.isArray(this.body.mcp_servers) && this.body.mcp_servers.length > 0);
  }

  private get toolList(): readonly JsonValue[] {
    return Array.isArray(this.body.tools) ? this.body.tools : [];
  }
}

/** Server tools without a name are called by their type. */
function toolName(tool: JsonValue): string {
  if (!isObject(tool)) return "";
  if (typeof tool.name === "string") return tool.name;
  return typeof tool.type === "string" ? tool.type : "";
}

function withInstructions(system: JsonValue | undefined, before: readonly string[], after: readonly string[]): JsonValue {
  if (Array.isArray(system)) return [...before.map(textBlock), ...system, ...after.map(textBlock)];
  const own = typeof system === "string" && system !== "" ? [system] : [];
  return [...before, ...own, ...after].join("\n\n");
}

function textBlock(text: string): JsonObject {
  return { type: "text", text };
}
