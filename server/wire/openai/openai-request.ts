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

/** Members in which files may stand. */
const WITH_FILES = ["messages", "input", "prompt"] as const;

/** Members of any of these endpoints that are no text. */
const PLAIN = `user safety_identifier prompt_cache_key prompt_cache_retention service_tier reasoning_effort verbosity truncation
  previous_response_id conversation response_format tool_choice function_call`;
/** Those whose members are the format's. */
const PROTOCOL = "audio web_search_options reasoning thinking conversation context_management stream_options include modalities";

/** `read`: what an endpoint looks at by itself beside the model and the tools. */
export function openAiMembers(read: string): KnownMembers {
  return knownMembers({ read: `tools functions response_format tool_choice function_call ${read}`, plain: PLAIN, protocol: PROTOCOL });
}

/** Where it is said of which shape an answer is to be. */
const FORMATS = [
  ["response_format", (value: JsonValue | undefined) => value],
  ["text", (value: JsonValue | undefined) => objectOf(value)?.format],
] as const;
/** What a schema's words are looked for in, and what says that it is one. */
const SCHEMA: ReadonlySet<string> = new Set(["type", "json_schema", "name", "description", "schema", "strict"]);

/** Members that name tools and speakers. */
const NAMING = ["messages", "input", "tools", "functions", "tool_choice", "function_call", "response_format", "text"];

/**
 * What the requests of OpenAI's text endpoints have in common. Made only from a body that has passed its endpoint's
 * checks.
 */
export abstract class OpenAiRequest implements ConversationInbound {
  /** The message whose texts are being visited. */
  protected visited: object | null = null;
  protected readonly document: JsonDocument;
  private measure: TextMeasure | null;
  /** Of the text files, where they were measured. */
  private fileCharacters: number | null = null;
  /** What the caller sent; the controls may set another. */
  private readonly sentTemperature: number | null;

  /** `measure`: of the texts as they stand, where the check has already gone over them. */
  constructor(document: JsonDocument, measure: TextMeasure | null) {
    this.document = document;
    this.measure = measure;
    this.sentTemperature = this.temperature;
  }

  /** The members that hold the ceiling on output; where the caller used none, the last is written. */
  protected abstract readonly ceilings: readonly string[];
  protected abstract visitAll(visit: RequestVisitor): void;
  protected abstract promptEdit(systemPrompt: string): readonly [member: string, text: string] | null;
  abstract addInstructions(before: readonly string[], after: readonly string[]): void;

  /** What the endpoint knows of a body. */
  protected abstract readonly known: KnownMembers;

  /** The member with what the model is to read. */
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

  /** Where the caller gave two ceilings the greater: providers differ in which of them they obey. */
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
    // Providers refuse what only means something with tools.
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
    // What is part of no message first: what a request ends in tells who spoke last.
    const slots: TextSlot[] = [...this.files()];
    slots.push(...otherTexts(this.body, this.known, (member) => this.changed(member)));
    const said: TextSlot[] = [];
    const source = {
      changed: (member: string) => this.changed(member),
      written: (member: string, value: JsonObject) => this.document.written(member, value),
    };
    this.visitAll((role, kind, holder, key, member) => {
      if (kind === "other") slots.push(new PlacedText(role, "text", holder, key, member, source, null));
      else said.push(new PlacedText(role, kind, holder, key, member, source, this.visited));
    });
    return slots.length === 0 ? said : [...slots, ...said];
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

  /** What an endpoint asks of the provider whatever the caller said. */
  protected ownEdits(_edits: Map<string, string | null>, _changes: OutboundChanges): void {}

  /** One ceiling by one name: the greater of two, as the controls saw it. */
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

  /** The text files that come along, and what files are called. */
  private files(): readonly TextSlot[] {
    return WITH_FILES.flatMap((member) => fileSlots(this.body[member], () => this.changed(member)));
  }

  private get defaultCeiling(): string {
    return this.ceilings.at(-1) as string;
  }

  /** A server has a name of its own for the ceiling only where its endpoint has several. */
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
