import { definitionTexts } from "../texts/definition-texts.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import { type FieldProblem, JsonDocument } from "../json/document.ts";
import { withExactTools } from "../json/exact-tools.ts";
import { nameTexts } from "../texts/name-texts.ts";
import type { ConversationInbound, OutboundChanges, TextSlot } from "../inbound.ts";
import { joinedInstructions, temperatureToSend, type SentSettings } from "../sent-settings.ts";
import { visitToolTexts } from "../texts/tool-texts.ts";
import { knownMembers, otherSlots, otherTexts, visitOthers } from "../texts/other-texts.ts";
import { withCallSignatures } from "./call-signatures.ts";
import { snakeName, spellingIn } from "./member-names.ts";
import { listIn, numberIn, objectIn, objectsIn, textIn } from "./members.ts";
import { geminiProblems } from "./request-check.ts";
import { contentSlots, roleOf, textSlot } from "./texts.ts";
import { geminiToolNames } from "./tool-list.ts";
import { withoutTools } from "./without-tools.ts";

const KNOWN = knownMembers({
  read: "contents systemInstruction system_instruction tools toolConfig tool_config generationConfig generation_config",
  plain: "cachedContent cached_content serviceTier service_tier",
  protocol: "safetySettings safety_settings",
});
/** The settings that are inspected like tool definitions. */
const IN_CONFIG: ReadonlySet<string> = new Set(
  ["responseSchema", "responseJsonSchema", "_responseJsonSchema"].flatMap((name) => [name, snakeName(name)]),
);

/** What a generateContent URL contains and its body does not. */
export interface GeminiAddress {
  readonly model: string;
  readonly stream: boolean;
}

/** Reads a generateContent body, validated as far as governance needs; everything else is left to the provider. */
export function readGeminiRequest(bytes: Uint8Array, address: GeminiAddress): GeminiRequest | { fields: FieldProblem[] } {
  const document = JsonDocument.read(bytes);
  if (!(document instanceof JsonDocument)) return { fields: [document] };
  const fields = geminiProblems(document.value);
  return fields.length > 0 ? { fields } : new GeminiRequest(document, address);
}

export class GeminiRequest implements ConversationInbound {
  readonly names = { temperature: "generationConfig.temperature", maxTokens: "generationConfig.maxOutputTokens", input: "contents" };
  readonly opaque = false;
  readonly prompts = 1;
  readonly model: string;
  readonly modelId = null;
  readonly stream: boolean;
  protected readonly document: JsonDocument;
  /** The caller's value; controls may set another. */
  private readonly sentTemperature: number | null;

  constructor(document: JsonDocument, address: GeminiAddress) {
    this.document = document;
    this.sentTemperature = this.temperature;
    this.model = address.model;
    this.stream = address.stream;
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

  get temperature(): number | null {
    return this.setting("temperature");
  }

  set temperature(value: number | null) {
    this.changeSetting("temperature", value);
  }

  get maxTokens(): number | null {
    return this.setting("maxOutputTokens");
  }

  set maxTokens(value: number | null) {
    this.changeSetting("maxOutputTokens", value);
  }

  get candidates(): number {
    return this.setting("candidateCount") ?? 1;
  }

  get tools(): readonly string[] {
    return geminiToolNames(this.body);
  }

  removeTools(names: ReadonlySet<string>): void {
    for (const name of withoutTools(this.body, names)) this.document.touch(name);
  }

  get instructions(): string | null {
    const turns = objectsIn(this.body, "contents").filter((content) => roleOf(content) === "system");
    const texts = [objectIn(this.body, "systemInstruction"), ...turns].flatMap((content) =>
      content === null ? [] : objectsIn(content, "parts").flatMap((part) => textIn(part, "text") ?? []),
    );
    return joinedInstructions(texts);
  }

  addInstructions(before: readonly string[], after: readonly string[]): void {
    if (before.length + after.length === 0) return;
    this.document.set(spellingIn(this.body, "systemInstruction"), this.systemWith(before, after));
  }

  texts(): readonly TextSlot[] {
    const slots: TextSlot[] = [];
    const others = otherTexts(this.body, KNOWN, (member) => this.document.touch(member));
    const config = objectIn(this.body, "generationConfig");
    if (config !== null) {
      const name = spellingIn(this.body, "generationConfig");
      visitOthers(
        config,
        IN_CONFIG,
        otherSlots(others, "user", () => this.document.touch(name)),
      );
    }
    const tools = spellingIn(this.body, "tools");
    visitToolTexts(this.body[tools], (holder) =>
      slots.push(...textSlot(holder as JsonObject, "description", "tool_definition", () => this.document.touch(tools))),
    );
    const system = objectIn(this.body, "systemInstruction");
    if (system !== null) {
      const name = spellingIn(this.body, "systemInstruction");
      slots.push(...contentSlots(system, "system", () => this.document.touch(name), others));
    }
    for (const content of objectsIn(this.body, "contents")) {
      const written = (data: JsonObject) => this.document.written("contents", data);
      slots.push(...contentSlots(content, roleOf(content), () => this.document.touch("contents"), others, written));
    }
    return [...others, ...slots];
  }

  definitions(): readonly TextSlot[] {
    const members = ["tools", "generationConfig"].map((name) => spellingIn(this.body, name));
    const touch = (member: string) => this.document.touch(member);
    return [...definitionTexts(this.body, members, touch), ...nameTexts(this.body, ["contents", members[0] ?? "tools"], touch)];
  }

  get inputCharacters(): number {
    return this.texts().reduce((sum, { text }) => sum + text.length, 0);
  }

  /** The provider gets the model in the URL, so it is not in the body. */
  outbound(changes: OutboundChanges): string {
    const edits: Map<string, string | null> = this.edits(changes);
    // Some servers of the format prefer it to the URL.
    if (this.body.model !== undefined) edits.set("model", null);
    const contents = listIn(this.body, "contents");
    const signed = withCallSignatures(contents, changes.model);
    if (signed !== contents) edits.set("contents", this.document.written("contents", signed));
    return this.document.text(edits);
  }

  sentSettings(changes: OutboundChanges): SentSettings {
    return {
      temperature: temperatureToSend(this.temperature, this.sentTemperature, changes),
      maxTokens: this.maxTokens ?? changes.defaultMaxTokens,
      instructions: joinedInstructions([changes.systemPrompt, this.instructions]),
    };
  }

  protected edits(changes: OutboundChanges): Map<string, string> {
    const edits = new Map<string, string>();
    const config: JsonObject = { ...objectIn(this.body, "generationConfig") };
    const temperature = temperatureToSend(this.temperature, this.sentTemperature, changes);
    const maxTokens = this.maxTokens === null ? changes.defaultMaxTokens : null;
    const changed = temperature !== this.temperature;
    if (changed && temperature === null) delete config[spellingIn(config, "temperature")];
    else if (changed) config[spellingIn(config, "temperature")] = temperature;
    if (maxTokens !== null) config[spellingIn(config, "maxOutputTokens")] = maxTokens;
    if (changed || maxTokens !== null) edits.set(spellingIn(this.body, "generationConfig"), JSON.stringify(config));
    if (changes.systemPrompt !== null) {
      edits.set(spellingIn(this.body, "systemInstruction"), JSON.stringify(this.systemWith([changes.systemPrompt], [])));
    }
    return edits;
  }

  private systemWith(before: readonly string[], after: readonly string[]): JsonObject {
    const system = objectIn(this.body, "systemInstruction") ?? {};
    const part = (text: string) => ({ text });
    return { ...system, parts: [...before.map(part), ...listIn(system, "parts"), ...after.map(part)] };
  }

  private setting(name: string): number | null {
    const config = objectIn(this.body, "generationConfig");
    return config === null ? null : numberIn(config, name);
  }

  private changeSetting(name: string, value: number | null): void {
    if (this.setting(name) === value) return;
    const config: JsonObject = { ...objectIn(this.body, "generationConfig") };
    const key = spellingIn(config, name);
    if (value === null) delete config[key];
    else config[key] = value;
    this.document.set(spellingIn(this.body, "generationConfig"), config);
  }
}
