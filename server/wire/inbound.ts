import type { JsonObject, JsonValue } from "../kernel/json-value.ts";
import type { AskedVideo, MediaAsked, Pictures, Sound } from "./media-asked.ts";
import type { Reranking } from "./rerank/reranking.ts";
import type { SentSettings } from "./sent-settings.ts";

/** One text the model would read, in the order it would. */
export interface TextSlot {
  /** `tool_definition`: how a tool offered to the model is described. */
  readonly role: "system" | "user" | "assistant" | "tool" | "tool_definition";
  /**
   * `arguments`: the text of a tool call's arguments; what replaces it must be JSON again. `name`: what a speaker is called;
   * `fixed_name`: what a tool is called, which cannot be said differently; `fixed_text`: neither can this, a grammar for one.
   */
  readonly kind: "text" | "arguments" | "name" | "fixed_name" | "fixed_text";
  /** The message that it is a part of, beside others perhaps. */
  readonly owner?: object;
  /** What programs say of themselves and of where something is: rules look at it, and no model is asked about it. */
  readonly rulesOnly?: true;
  /** Of what stands on the audit row by itself: takes it from there, where it may be kept by nobody. */
  forget?(): void;
  readonly text: string;
  replace(text: string): void;
}

/** What the gateway has to say differently to the provider than the caller said to the gateway. */
export interface OutboundChanges {
  /** The provider's name of the model. */
  readonly model: string;
  readonly defaultTemperature: number | null;
  readonly defaultMaxTokens: number | null;
  /** False for a model that takes no temperature: then none is put in that the caller did not send. */
  readonly sampling?: boolean;
  /** What the provider calls the ceiling on output, where that is not left to the caller; of OpenAI's chat format only. */
  readonly maxTokensName?: "max_tokens" | "max_completion_tokens" | null;
  /** Put before the caller's own instructions. */
  readonly systemPrompt: string | null;
  /** Seals of reasoning that the provider cannot open; it refuses whole requests for them. */
  readonly foreignSeals?: ReadonlySet<string>;
}

/** What the format calls the members that governance bounds. */
export interface MemberNames {
  readonly temperature: string;
  readonly maxTokens: string;
  /** Where what the model is to read stands. */
  readonly input: string;
}

/**
 * One request as a caller sent it, in one vendor's format, checked and ready to be looked at. Reading it changes no
 * byte; the setters change exactly the member they speak of.
 */
export interface InboundRequest {
  /** How the caller named the model; one of the two is there. */
  readonly model: string | null;
  readonly modelId: string | null;
  readonly stream: boolean;
  readonly names: MemberNames;
  /** Null where the caller did not say. Setting null takes it out. */
  temperature: number | null;
  maxTokens: number | null;
  /** Whether no request of its kind can say how long its answer may get; it can when left out. */
  readonly unbounded?: true;
  /** Answers asked for at once; 1 when not said. */
  readonly candidates: number;
  /** Where pictures are asked for and no text. */
  readonly pictures?: Pictures;
  /** Of what is to be spoken, where speech is asked for: Unicode code points. */
  readonly spokenCharacters?: number;
  /** Where documents are to be ordered. */
  readonly reranking?: Reranking;
  /** Where sound comes along to be heard. */
  readonly sound?: Sound;
  /** Where a video is asked for. */
  readonly film?: AskedVideo;
  /** Where media are asked for, or brought along to be heard. */
  readonly media?: MediaAsked;
  /** How many texts the model reads each by itself: more than one where a request asks the same of several. */
  readonly prompts: number;
  /** Names of the tools offered to the model, in order. */
  readonly tools: readonly string[];
  removeTools(names: ReadonlySet<string>): void;
  /** The instruction text (system prompt), its parts joined with line feeds; null when there is none. */
  readonly instructions: string | null;
  /** Puts texts before and behind the caller's own instructions. */
  addInstructions(before: readonly string[], after: readonly string[]): void;
  texts(): readonly TextSlot[];
  /** The words in answer schemas, those in tool definitions that are no descriptions, and the names of tools and speakers. */
  definitions(): readonly TextSlot[];
  /** A name that stands twice in one object of the body as it came; null when none does. */
  readonly repeatedName: string | null;
  /** True where tokens were sent in the place of texts: nobody can look into them or add to them. */
  readonly opaque: boolean;
  /** Length of all texts together, for estimates. */
  readonly inputCharacters: number;
  /** The parsed body as it stands now. Not to be changed. */
  readonly body: JsonObject;
  /** The same as a translation reads it: what tools are told and say has every digit it came with. */
  readonly exactBody: JsonObject;
  /** The body for a provider of the caller's own format: the caller's own bytes wherever nothing had to change. */
  outbound(changes: OutboundChanges): string;
  /** What that body tells the model of how to answer. */
  sentSettings(changes: OutboundChanges): SentSettings;
}

/** One that a conversation goes on in. */
export interface ConversationInbound extends InboundRequest {
  /** Takes a member out that is the gateway's own, and gives it; undefined when it is not there. */
  takeOut(name: string): JsonValue | undefined;
  /** Seals of the reasoning that the caller sends back, where the format has such. */
  readonly seals?: readonly string[];
  /** Those of what stands for a whole conversation: who cannot open it cannot go on. */
  readonly compactions?: readonly string[];
}
