import type { JsonObject, JsonValue } from "../kernel/json-value.ts";
import type { ReferencedVideo, MediaRequest, Pictures, AudioInput } from "./media-request.ts";
import type { Reranking } from "./rerank/reranking.ts";
import type { SentSettings } from "./sent-settings.ts";

/** One text that the model would read. Slots are in the order in which it would read them. */
export interface TextSlot {
  /** `tool_definition`: the description of a tool offered to the model. */
  readonly role: "system" | "user" | "assistant" | "tool" | "tool_definition";
  /**
   * `arguments`: a tool call's arguments, whose replacement must be valid JSON. `name`: the name of a speaker.
   * `fixed_name`: the name of a tool, which cannot be replaced. `fixed_text`: other text that cannot be replaced, such as
   * a grammar.
   */
  readonly kind: "text" | "arguments" | "name" | "fixed_name" | "fixed_text";
  /** The message that contains it, possibly with other slots. */
  readonly owner?: object;
  /** Metadata written by programs, such as client names and locations: checked by rules only, never sent to a model for inspection. */
  readonly rulesOnly?: true;
  /** Set if the text is also a field of the audit row: removes it from there if it must not be stored. */
  forget?(): void;
  readonly text: string;
  replace(text: string): void;
}

/** The changes the gateway makes to a request before it is sent to the provider. */
export interface OutboundChanges {
  /** The provider's name for the model. */
  readonly model: string;
  readonly defaultTemperature: number | null;
  readonly defaultMaxTokens: number | null;
  /** False if the model does not accept a temperature: then no default is added. */
  readonly sampling?: boolean;
  /** The provider's name for the output limit, if not left to the caller; OpenAI's chat format only. */
  readonly maxTokensName?: "max_tokens" | "max_completion_tokens" | null;
  /** Prepended to the caller's instructions. */
  readonly systemPrompt: string | null;
  /** Signatures of reasoning that this provider cannot verify; it would reject the whole request because of them. */
  readonly foreignSeals?: ReadonlySet<string>;
}

/** The format's names of the members that governance limits. */
export interface MemberNames {
  readonly temperature: string;
  readonly maxTokens: string;
  /** The member that contains the model's input. */
  readonly input: string;
}

/** A validated request in one vendor's format. Reading it changes no byte; each setter changes exactly the member it names. */
export interface InboundRequest {
  /** The model named by the caller; either `model` or `modelId` is set. */
  readonly model: string | null;
  readonly modelId: string | null;
  readonly stream: boolean;
  readonly names: MemberNames;
  /** Null if the caller did not set it. Assigning null removes it. */
  temperature: number | null;
  maxTokens: number | null;
  /** True if this kind of request cannot limit the length of its answer. */
  readonly unbounded?: true;
  /** Number of answers requested; defaults to 1. */
  readonly candidates: number;
  /** Set if the request asks for images instead of text. */
  readonly pictures?: Pictures;
  /** Length of the text to be spoken, in Unicode code points, if speech is requested. */
  readonly spokenCharacters?: number;
  /** Set if documents are to be reranked. */
  readonly reranking?: Reranking;
  /** Set if audio is to be transcribed. */
  readonly audio?: AudioInput;
  /** Set if a video is requested. */
  readonly video?: ReferencedVideo;
  /** Set if media is requested, or audio uploaded for transcription. */
  readonly media?: MediaRequest;
  /** Number of texts processed independently: more than one if a request asks the same of several inputs. */
  readonly prompts: number;
  /** Names of the tools offered to the model, in order. */
  readonly tools: readonly string[];
  removeTools(names: ReadonlySet<string>): void;
  /** The system prompt, its parts joined with line feeds; null if there is none. */
  readonly instructions: string | null;
  /** Adds texts before and after the caller's own instructions. */
  addInstructions(before: readonly string[], after: readonly string[]): void;
  texts(): readonly TextSlot[];
  /** Text in answer schemas, text in tool definitions other than descriptions, and the names of tools and speakers. */
  definitions(): readonly TextSlot[];
  /** The first duplicate member name within one object of the original body; null if there is none. */
  readonly repeatedName: string | null;
  /** True if the input is given as token IDs, which can be neither inspected nor extended. */
  readonly opaque: boolean;
  /** Total length of all texts in characters, for estimates. */
  readonly inputCharacters: number;
  /** The parsed body in its current state. Must not be modified. */
  readonly body: JsonObject;
  /** The body for translation, in which tool arguments and results keep the exact digits of numbers. */
  readonly exactBody: JsonObject;
  /** The body for a provider of the same format: the caller's bytes wherever nothing had to change. */
  outbound(changes: OutboundChanges): string;
  /** The settings for the answer in that outbound body. */
  sentSettings(changes: OutboundChanges): SentSettings;
}

/** A request that continues a conversation. */
export interface ConversationInbound extends InboundRequest {
  /** Removes a member that is meant for the gateway and returns it; undefined if absent. */
  takeOut(name: string): JsonValue | undefined;
  /** Signatures of the reasoning that the caller sends back, in formats that have them. */
  readonly seals?: readonly string[];
  /** Signatures of compacted conversations. A provider that cannot decrypt them cannot continue the conversation. */
  readonly compactions?: readonly string[];
}
