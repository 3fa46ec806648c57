import type { ReferencedVideo, MediaRequest, Pictures, AudioInput } from "../wire/media-request.ts";
import type { Reranking } from "../wire/rerank/reranking.ts";
import type { RequestedKnowledge } from "./request/requested-knowledge.ts";
import type { ModelReference, Target } from "./target.ts";
import { requestedServing } from "../wire/serving.ts";
import { offeredVendorTools, type ToolUses } from "../wire/vendor-tools.ts";
import type { ServiceTier } from "../wire/usage.ts";
import { offeredSearches } from "../wire/offered-searches.ts";
import { continuesStored } from "../wire/continues-stored.ts";
import { otherModels } from "../wire/other-models.ts";
import { vendorIds, vendorTemplates } from "../wire/vendor-ids.ts";
import type { InboundRequest, MemberNames, TextSlot } from "../wire/inbound.ts";

/**
 * What controls see of a request, independent of its wire format. The surface fills it; controls read and change it. A change reaches the
 * provider whatever its format.
 */
export interface RequestView {
  readonly target: Target;
  readonly streaming: boolean;
  /** The caller's format's names for the members that governance bounds. */
  readonly names: MemberNames;
  /** Null if the caller set none; assigning writes it into the request. */
  temperature: number | null;
  /** The output limit the caller asked for, in tokens. */
  maxTokens: number | null;
  /** True if requests of this kind cannot limit the length of their answer. */
  readonly unbounded?: true | undefined;
  /** Number of alternative answers asked for. */
  readonly candidates: number;
  /** Set if images are asked for. */
  readonly pictures?: Pictures | undefined;
  /** Set if speech is asked for: length of the text to speak. */
  readonly spokenCharacters?: number | undefined;
  /** Set if documents are to be reranked. */
  readonly reranking?: Reranking | undefined;
  /** Set if the request contains audio to transcribe. */
  readonly audio?: AudioInput | undefined;
  /** The most tokens of audio that the provider got apart from the request; absent: none. */
  readonly heardTokens?: number | undefined;
  /** Set if a video is asked for. */
  readonly video?: ReferencedVideo | undefined;
  /** Set if media are asked for or supplied. */
  readonly media?: MediaRequest | undefined;
  /** Number of inputs the model reads independently, each of which may fill its context window. */
  readonly prompts: number;
  /** Names of the tools offered to the model, in order. */
  readonly tools: readonly string[];
  /** How often the model may run the vendor's own web search: 0 if it is not offered, null if unbounded. */
  readonly webSearches: number | null;
  /** Other vendor tools that are billed, and how often the model may use them. */
  readonly vendorTools?: ToolUses | undefined;
  /** The service tier asked for; standard when left out. */
  readonly serving?: ServiceTier | undefined;
  /** Members that name further models besides the target. */
  readonly otherModels?: readonly string[];
  /** Members that refer to objects stored in the vendor's account. */
  readonly vendorIds?: readonly string[];
  /** Members that make the vendor insert stored instructions or tools. */
  readonly vendorTemplates?: readonly string[];
  /** Whether it continues a conversation that is stored at the provider. */
  readonly continuesStored?: boolean;
  removeTools(names: ReadonlySet<string>): void;
  /** The instructions (system prompt), joined; null if there are none. */
  readonly instructions: string | null;
  /** Adds mandatory texts before and after the caller's own instructions. */
  addInstructions(before: readonly string[], after: readonly string[]): void;
  /** Every text the model would read, in order, each replaceable in place. */
  texts(): readonly TextSlot[];
  /** Texts of answer schemas, texts in tool definitions other than descriptions, and the names of tools and speakers. */
  definitions(): readonly TextSlot[];
  /** The body in its current state, for the record. */
  content(): string;
  /** A member name that occurs twice in one object of the request; null if none does. */
  readonly repeatedName: string | null;
  /**
   * True if the request contains tokens, or bytes in a server's own encoding, instead of text, so that it cannot be inspected or extended.
   */
  readonly opaque: boolean;
  /** Total length of all texts, for estimates. */
  readonly inputCharacters: number;
  /** Set for calls that may be given passages of knowledge bases. */
  readonly knowledge?: RequestedKnowledge | undefined;
  /**
   * Removes content that a guardrail blocked if the rest must continue anyway, and returns the tag for the row. Null if a blocking
   * guardrail ends the call.
   */
  readonly withhold: (() => string) | null;
}

/** The view of a request in a vendor's format. */
export class InboundView implements RequestView {
  readonly target: ModelReference;
  readonly withhold = null;
  readonly knowledge: RequestedKnowledge | undefined;
  private readonly inbound: InboundRequest;

  constructor(inbound: InboundRequest, modes: readonly string[], knowledge?: RequestedKnowledge) {
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
  get audio(): AudioInput | undefined {
    return this.inbound.audio;
  }
  get video(): ReferencedVideo | undefined {
    return this.inbound.video;
  }
  get media(): MediaRequest | undefined {
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
    return requestedServing(this.inbound.body);
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
  get continuesStored(): boolean {
    return continuesStored(this.inbound.body);
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
