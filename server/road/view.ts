import type { AskedVideo, MediaAsked, Pictures, Sound } from "../wire/media-asked.ts";
import type { Reranking } from "../wire/rerank/reranking.ts";
import type { AskedKnowledge } from "./asked-knowledge.ts";
import type { ModelReference, Target } from "./target.ts";
import { servingAsked } from "../wire/serving.ts";
import { offeredVendorTools, type ToolUses } from "../wire/vendor-tools.ts";
import type { ServiceTier } from "../wire/usage.ts";
import { offeredSearches } from "../wire/offered-searches.ts";
import { otherModels } from "../wire/other-models.ts";
import { vendorIds, vendorTemplates } from "../wire/vendor-ids.ts";
import type { InboundRequest, MemberNames, TextSlot } from "../wire/inbound.ts";

/**
 * What controls see of a request, whatever wire it came on: the surface fills it, controls read and change it and know
 * no format. A change reaches the provider in every format.
 */
export interface RequestView {
  /** What the request addresses. */
  readonly target: Target;
  readonly streaming: boolean;
  /** What the caller's format calls the members that governance bounds. */
  readonly names: MemberNames;
  /** Null where the caller did not say; setting writes it into the request. */
  temperature: number | null;
  /** Output ceiling the caller asked for. */
  maxTokens: number | null;
  /** Whether no request of its kind can say how long its answer may get; it can when left out. */
  readonly unbounded?: true | undefined;
  /** Answers asked for at once. */
  readonly candidates: number;
  /** Where pictures are asked for and no text. */
  readonly pictures?: Pictures | undefined;
  /** Of what is to be spoken, where speech is asked for. */
  readonly spokenCharacters?: number | undefined;
  /** Where documents are to be ordered. */
  readonly reranking?: Reranking | undefined;
  /** Where sound comes along to be heard. */
  readonly sound?: Sound | undefined;
  /** Where a video is asked for. */
  readonly film?: AskedVideo | undefined;
  /** Where media are asked for, or brought along to be heard. */
  readonly media?: MediaAsked | undefined;
  /** How many texts the model reads each by itself, which may each be as long as its context window. */
  readonly prompts: number;
  /** Names of the tools offered to the model, in order. */
  readonly tools: readonly string[];
  /** Searches of the vendor's own that the model may run: 0 where none is offered, null where nothing bounds them. */
  readonly webSearches: number | null;
  /** Other tools of the vendor's that have a fee, and how often the model may use them; none where left out. */
  readonly vendorTools?: ToolUses | undefined;
  /** How the model is asked to be served; the usual way when left out. */
  readonly serving?: ServiceTier | undefined;
  /** Members by which other models are asked for beside the one that it addresses; none where left out. */
  readonly otherModels?: readonly string[];
  /** Places that name what the vendor keeps in its account; none where left out. */
  readonly vendorIds?: readonly string[];
  /** Members by which the vendor puts in instructions and tools that it keeps; none where left out. */
  readonly vendorTemplates?: readonly string[];
  removeTools(names: ReadonlySet<string>): void;
  /** The instruction text (system prompt), joined; null when there is none. */
  readonly instructions: string | null;
  /** Puts mandatory texts before and behind the caller's own instructions. */
  addInstructions(before: readonly string[], after: readonly string[]): void;
  /** Every text the model would read, in order, each replaceable in place. */
  texts(): readonly TextSlot[];
  /** The words in answer schemas, those in tool definitions that are no descriptions, and the names of tools and speakers. */
  definitions(): readonly TextSlot[];
  /** The body as it stands now, for the record. */
  content(): string;
  /** A name that stands twice in one object of the request; null when none does. */
  readonly repeatedName: string | null;
  /** True where tokens, or bytes in a form of a server's own, were sent in the place of texts: nobody can look into them or add to them. */
  readonly opaque: boolean;
  /** Length of all texts together, for estimates. */
  readonly inputCharacters: number;
  /** Of a call that may be given passages of knowledge bases; none where left out. */
  readonly knowledge?: AskedKnowledge | undefined;
  /**
   * Takes out what a guardrail blocked where the rest has to go on all the same, and gives the tag that says so on the row; null where
   * a guardrail that blocks ends the call.
   */
  readonly withhold: (() => string) | null;
}

/** A request in a vendor's format, as controls see it. */
export class InboundView implements RequestView {
  readonly target: ModelReference;
  readonly withhold = null;
  readonly knowledge: AskedKnowledge | undefined;
  private readonly inbound: InboundRequest;

  constructor(inbound: InboundRequest, modes: readonly string[], knowledge?: AskedKnowledge) {
    this.inbound = inbound;
    this.knowledge = knowledge;
    this.target = { kind: "model", name: inbound.model, id: inbound.modelId, modes };
  }

  get names(): MemberNames {
    return this.inbound.names;
  }
  get streaming(): boolean {
    return this.inbound.stream;
  }
  get temperature(): number | null {
    return this.inbound.temperature;
  }
  set temperature(value: number | null) {
    this.inbound.temperature = value;
  }
  get maxTokens(): number | null {
    return this.inbound.maxTokens;
  }
  set maxTokens(value: number | null) {
    this.inbound.maxTokens = value;
  }
  get unbounded(): true | undefined {
    return this.inbound.unbounded;
  }
  get candidates(): number {
    return this.inbound.candidates;
  }
  get pictures(): Pictures | undefined {
    return this.inbound.pictures;
  }
  get spokenCharacters(): number | undefined {
    return this.inbound.spokenCharacters;
  }
  get reranking(): Reranking | undefined {
    return this.inbound.reranking;
  }
  get sound(): Sound | undefined {
    return this.inbound.sound;
  }
  get film(): AskedVideo | undefined {
    return this.inbound.film;
  }
  get media(): MediaAsked | undefined {
    return this.inbound.media;
  }
  get prompts(): number {
    return this.inbound.prompts;
  }
  get tools(): readonly string[] {
    return this.inbound.tools;
  }
  get webSearches(): number | null {
    return offeredSearches(this.inbound.body);
  }
  get vendorTools(): ToolUses {
    return offeredVendorTools(this.inbound.body);
  }
  get serving(): ServiceTier {
    return servingAsked(this.inbound.body);
  }
  get otherModels(): readonly string[] {
    return otherModels(this.inbound.body);
  }
  get vendorIds(): readonly string[] {
    return vendorIds(this.inbound.body);
  }
  get vendorTemplates(): readonly string[] {
    return vendorTemplates(this.inbound.body);
  }
  removeTools(names: ReadonlySet<string>): void {
    this.inbound.removeTools(names);
  }
  get instructions(): string | null {
    return this.inbound.instructions;
  }
  addInstructions(before: readonly string[], after: readonly string[]): void {
    this.inbound.addInstructions(before, after);
  }
  texts(): readonly TextSlot[] {
    return this.inbound.texts();
  }
  definitions(): readonly TextSlot[] {
    return this.inbound.definitions();
  }
  content(): string {
    return JSON.stringify(this.inbound.body);
  }
  get repeatedName(): string | null {
    return this.inbound.repeatedName;
  }
  get opaque(): boolean {
    return this.inbound.opaque;
  }
  get inputCharacters(): number {
    return this.inbound.inputCharacters;
  }
}
