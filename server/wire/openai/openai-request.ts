import { definitionTexts } from "../texts/definition-texts.ts";
import type { JsonObject, JsonValue } from "../../kernel/json-value.ts";
import type { JsonDocument } from "../json/document.ts";
import { nameTexts } from "../texts/name-texts.ts";
import type { ConversationInbound, MemberNames, OutboundChanges, TextSlot } from "../inbound.ts";
import { fileSlots } from "../texts/text-documents.ts";
import { numberOf, objectOf, stringOf, wholeOf } from "./loose-fields.ts";
import { memberTools, membersWithout } from "./member-tools.ts";
import { choiceWithout, openAiToolNames, toolsWithout } from "./offered-tools.ts";
import { type KnownMembers, knownMembers, otherTexts, shapeTexts } from "../texts/other-texts.ts";
import { PlacedText, type RequestVisitor } from "./text-places.ts";
import { TextMeasure } from "./text-measure.ts";
import { joinedInstructions, temperatureToSend, type SentSettings } from "../sent-settings.ts";

/** Members that may contain files. */
const WITH_FILES = ["messages", "input", "prompt"] as const;

/** Members of these endpoints that are not text. */
const PLAIN = `user safety_identifier prompt_cache_key prompt_cache_retention service_tier reasoning_effort verbosity truncation
  previous_response_id conversation response_format tool_choice function_call`;
/** Members whose own members are defined by the format. */
const PROTOCOL = "audio web_search_options reasoning thinking conversation context_management stream_options include modalities";

/** `read` names the members an endpoint inspects separately, in addition to model and tools. */
export function openAiMembers(read: string): KnownMembers {
  return knownMembers({ read: `tools functions response_format tool_choice function_call ${read}`, plain: PLAIN, protocol: PROTOCOL });
}

/** Members that define the form of the answer. */
const FORMATS = [
  ["response_format", (value: JsonValue | undefined) => value],
  ["text", (value: JsonValue | undefined) => objectOf(value)?.format],
] as const;
/** Members of a schema format; the schema's texts are collected as definitions. */
const SCHEMA: ReadonlySet<string> = new Set(["type", "json_schema", "name", "description", "schema", "strict"]);

/** Members that contain names of tools and speakers. */
const NAMING = ["messages", "input", "tools", "functions", "tool_choice", "function_call", "response_format", "text"];

/** The common part of requests to OpenAI's text endpoints. Constructed only from a body that has passed the endpoint's checks. */
export abstract class OpenAiRequest implements ConversationInbound {
  /** The message whose texts are being visited. */
  protected visited: object | null = null;
  protected readonly document: JsonDocument;
  private measure: TextMeasure | null;
  /** Cached characters of the text files. */
  private fileCharacters: number | null = null;
  /** The caller's value; controls may set another. */
  private readonly sentTemperature: number | null;

  /** `measure` covers the current texts, if the checks have already visited them. */
  constructor(document: JsonDocument, measure: TextMeasure | null) {
    this.document = document;
    this.measure = measure;
    this.sentTemperature = this.temperature;
  }

  /** The members for the output limit; if the caller used none, the last one is written. */
  protected abstract readonly ceilings: readonly string[];
  protected abstract visitAll(visit: RequestVisitor): void;
  protected abstract promptEdit(systemPrompt: string): readonly [member: string, text: string] | null;
  abstract addInstructions(before: readonly string[], after: readonly string[]): void;

  /** The members that the endpoint knows. */
  protected abstract readonly known: KnownMembers;

  /** The member with the model's input. */
  protected abstract readonly inputName: string;

  get names(): MemberNames {
    return {
      temperature: "temperature",
      maxTokens: this.ceilings.find((name) => this.document.has(name)) ?? this.defaultCeiling,
      input: this.inputName,
    };
  }

  get opaque(): boolean {
    return false;
  }

  get exactBody() {
    return this.body;
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
    return stringOf(this.body.model);
  }

  get modelId(): string | null {
    return stringOf(this.body.model_id);
  }

  get stream(): boolean {
    return this.body.stream === true;
  }

  get temperature(): number | null {
    return numberOf(this.body.temperature);
  }

  set temperature(value: number | null) {
    this.document.set("temperature", value ?? undefined);
  }

  /** The greater one if the caller gave two limits, because providers differ in which one they apply. */
  get maxTokens(): number | null {
    let most: number | null = null;
    for (const name of this.ceilings) {
      const value = wholeOf(this.body[name]);
      if (value !== null && (most === null || value > most)) most = value;
    }
    return most;
  }

  set maxTokens(value: number | null) {
    const present = this.ceilings.filter((name) => this.document.has(name));
    for (const name of present) this.document.set(name, value ?? undefined);
    if (present.length === 0 && value !== null) this.document.set(this.defaultCeiling, value);
  }

  get candidates(): number {
    return wholeOf(this.body.n) ?? 1;
  }

  get prompts(): number {
    return 1;
  }

  get tools(): readonly string[] {
    return [...openAiToolNames(this.body.tools), ...memberTools(this.body)];
  }

  removeTools(names: ReadonlySet<string>): void {
    for (const [member, rest] of membersWithout(this.body, names)) this.document.set(member, rest);
    const kept = toolsWithout(this.body.tools, names);
    if (kept !== null) this.document.set("tools", kept.length === 0 ? undefined : kept);
    if (this.document.has("tools")) {
      const choice = choiceWithout(this.body.tool_choice, names);
      if (choice !== this.body.tool_choice) this.document.set("tool_choice", choice);
      return;
    }
    // Providers refuse these without tools.
    for (const name of ["tool_choice", "parallel_tool_calls"]) if (this.document.has(name)) this.document.set(name, undefined);
  }

  get instructions(): string | null {
    return this.measured().instructions;
  }

  get inputCharacters(): number {
    this.fileCharacters ??= this.files().reduce((sum, { kind, text }) => sum + (kind === "text" ? text.length : 0), 0);
    return this.measured().characters + this.fileCharacters;
  }

  texts(): readonly TextSlot[] {
    // Texts outside messages come first, because the last text shows who spoke last.
    const slots: TextSlot[] = [...this.files()];
    slots.push(...otherTexts(this.body, this.known, (member) => this.changed(member)));
    const textSlots: TextSlot[] = [];
    const source = {
      changed: (member: string) => this.changed(member),
      written: (member: string, value: JsonObject) => this.document.written(member, value),
    };
    this.visitAll((role, kind, holder, key, member) => {
      if (kind === "other") slots.push(new PlacedText(role, "text", holder, key, member, source, null));
      else textSlots.push(new PlacedText(role, kind, holder, key, member, source, this.visited));
    });
    return slots.length === 0 ? textSlots : [...slots, ...textSlots];
  }

  definitions(): readonly TextSlot[] {
    const touch = (member: string) => this.changed(member);
    return [
      ...definitionTexts(this.body, ["tools", "functions", "response_format", "text"], touch),
      ...FORMATS.flatMap(([member, of]) => shapeTexts(of(this.body[member]), SCHEMA, () => touch(member))),
      ...nameTexts(this.body, NAMING, touch),
    ];
  }

  outbound(changes: OutboundChanges): string {
    const edits = new Map<string, string | null>();
    if (this.document.has("model_id")) edits.set("model_id", null);
    if (this.body.model !== changes.model) edits.set("model", JSON.stringify(changes.model));
    const temperature = temperatureToSend(this.temperature, this.sentTemperature, changes);
    if (temperature !== this.temperature) edits.set("temperature", temperature === null ? null : String(temperature));
    if (changes.defaultMaxTokens !== null && this.maxTokens === null)
      edits.set(this.ceilingNamed(changes.maxTokensName), String(changes.defaultMaxTokens));
    if (changes.systemPrompt !== null) {
      const edit = this.promptEdit(changes.systemPrompt);
      if (edit !== null) edits.set(edit[0], edit[1]);
    }
    if (changes.maxTokensName != null) this.renameCeiling(changes.maxTokensName, edits);
    this.ownEdits(edits, changes);
    return this.document.text(edits);
  }

  sentSettings(changes: OutboundChanges): SentSettings {
    return {
      temperature: temperatureToSend(this.temperature, this.sentTemperature, changes),
      maxTokens: this.maxTokens ?? changes.defaultMaxTokens,
      instructions: joinedInstructions([changes.systemPrompt, this.instructions]),
    };
  }

  /** Changes that an endpoint always makes for the provider. */
  protected ownEdits(_edits: Map<string, string | null>, _changes: OutboundChanges): void {}

  /** Keeps a single limit under one name: the greater of two, as the controls saw it. */
  private renameCeiling(name: string, edits: Map<string, string | null>): void {
    const others = this.ceilings.filter((other) => other !== name && this.document.has(other));
    if (others.length === 0 || !this.ceilings.includes(name)) return;
    for (const other of others) edits.set(other, null);
    if (this.maxTokens !== null) edits.set(name, String(this.maxTokens));
  }

  protected changed(member: string): void {
    this.document.touch(member);
    this.measure = null;
    this.fileCharacters = null;
  }

  /** Embedded text files and file names. */
  private files(): readonly TextSlot[] {
    return WITH_FILES.flatMap((member) => fileSlots(this.body[member], () => this.changed(member)));
  }

  private get defaultCeiling(): string {
    return this.ceilings.at(-1) as string;
  }

  /** A server's own name for the output limit applies only to endpoints that have several. */
  private ceilingNamed(name: OutboundChanges["maxTokensName"]): string {
    return name != null && this.ceilings.includes(name) ? name : this.defaultCeiling;
  }

  private measured(): TextMeasure {
    if (this.measure === null) {
      this.measure = new TextMeasure();
      this.visitAll(this.measure.visit);
    }
    return this.measure;
  }
}
