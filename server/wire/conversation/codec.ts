import type { AnswerTexts } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import type { CacheQuestion } from "./question.ts";
import type { ConversationEvent, ConversationReply, ProviderFault } from "./reply.ts";
import type { ConversationRequest, Feature } from "./request.ts";
import type { SentSettings } from "../sent-settings.ts";
import type { ServiceTier } from "../usage.ts";

/** The wire formats of conversations with a model. */
export type ConversationFormat = "chat" | "responses" | "completions" | "messages" | "gemini" | "converse";

/** What a request writer needs to know of the target model. */
export interface TargetModel {
  /** The provider's name for the model. */
  readonly name: string;
  /** Its maximum output tokens, if known; used by formats that require a limit if the caller gave none. */
  readonly maxOutputTokens: number | null;
  /** Whether it accepts system messages within a conversation, if the format has them; true by default. */
  readonly systemTurns?: boolean;
  /** The name of the output limit on this server of OpenAI's chat format; `max_completion_tokens` by default. */
  readonly maxTokensName?: "max_tokens" | "max_completion_tokens";
}

/** What an answer writer needs to know of the call. */
export interface ReplyContext {
  /** Used as the answer's ID if the provider gave none; unique, letters and digits only. */
  readonly callId: string;
  /** The model as named by the caller. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** The caller's body, because some formats repeat parts of it in the answer. */
  readonly request: JsonObject;
  /** Whether the caller asked for usage in a stream, in formats where that is optional. */
  readonly includeUsage: boolean;
}

export type RequestRead =
  | {
      readonly request: ConversationRequest;
      /** Fields that no other format can express and that can be dropped without harm, by the caller's names. */
      readonly dropped: readonly string[];
    }
  /** Fields whose loss would change the result. */
  | { readonly unsupported: readonly FieldProblem[] };

export type RequestWritten =
  | {
      readonly body: JsonObject;
      /** Features that this format cannot express and that can be dropped without harm. */
      readonly dropped: readonly Feature[];
    }
  | { readonly unsupported: readonly { readonly feature: Feature; readonly message: string }[] };

export interface StreamReader {
  /** The events in a chunk of the provider's bytes, which may be cut anywhere. Invalid bytes become a fault event. */
  push(piece: Uint8Array): ConversationEvent[];
  /** Call when the provider has closed its stream. `complete` is false if the answer had not ended. */
  end(): { readonly events: readonly ConversationEvent[]; readonly complete: boolean };
  /** `closed` and `served` are as in `StreamCodec`. */
  readonly closed?: boolean;
  readonly served?: ServiceTier | undefined;
}

export interface StreamWriter {
  /** The text to send for an event; empty if there is none. */
  write(event: ConversationEvent): string;
  /** The final frames of the answer, including usage. Call once, and only for a complete answer. */
  close(): string;
  /** As the codec's `referable`, available once the answer is closed. */
  referable?(): ReadonlyMap<string, string>;
}

/** The provider side of a format. Pure, without I/O; lenient with what providers send, and never throws. */
export interface ProviderCodec {
  readonly format: ConversationFormat;
  /** Whether providers of the format sign content that must be sent back unchanged. */
  readonly signs: boolean;
  /** Whether images must be embedded: those given by URL are then fetched before a request is written. */
  readonly needsMediaBytes: boolean;
  writeRequest(request: ConversationRequest, target: TargetModel): RequestWritten;
  /** The settings for the answer in a body written by `writeRequest`. */
  sentSettings(body: JsonObject): SentSettings;
  /** Null if the body is not an answer of this format. */
  readReply(body: JsonObject): ConversationReply | null;
  streamReader(): StreamReader;
  /** `body` is null if it was not a JSON object. Some vendors name the error in a header. */
  readFault(status: number, body: JsonObject | null, headers?: Headers): ProviderFault;
}

/** The caller side of a format. Pure, without I/O; never throws. */
export interface CallerCodec {
  readonly format: ConversationFormat;
  /** The name of each feature in this format, for error reports to the caller. */
  readonly spelling: Readonly<Record<Feature, string>>;
  /** Finds the texts in the format's answers. */
  readonly answerTexts: AnswerTexts;
  /** The last user message, separated from the rest of the request; null if the request does not end with one. */
  question(body: JsonObject): CacheQuestion | null;
  /** `body` has passed the format's own validation (its `InboundRequest`). */
  readRequest(body: JsonObject): RequestRead;
  writeReply(reply: ConversationReply, context: ReplyContext): JsonObject;
  streamWriter(context: ReplyContext): StreamWriter;
  /** The parts of a complete answer that later requests may reference, as JSON by ID; absent if the format has no references. */
  referable?(answer: JsonObject, request: JsonObject): ReadonlyMap<string, string>;
  /** The format's error body. `callId` is the request ID known to the caller. */
  writeFault(fault: ProviderFault, callId: string): JsonObject;
}

/** A format in both directions: a translation uses the reader of one codec and the writer of another. */
export interface ConversationCodec extends ProviderCodec, CallerCodec {}
