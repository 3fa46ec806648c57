import type { AnswerTexts } from "../texts/answer-texts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import type { FieldProblem } from "../json/document.ts";
import type { CacheQuestion } from "./question.ts";
import type { ConversationEvent, ConversationReply, ProviderFault } from "./reply.ts";
import type { ConversationRequest, Feature } from "./request.ts";
import type { SentSettings } from "../sent-settings.ts";
import type { ServiceTier } from "../usage.ts";

/** The formats in which a conversation with a model is written on a wire. */
export type ConversationFormat = "chat" | "responses" | "completions" | "messages" | "gemini" | "converse";

/** What a writer must know of the model it writes for. */
export interface TargetModel {
  /** The provider's name of it. */
  readonly name: string;
  /** Its most output tokens, where known; formats that require a ceiling use it when the caller gave none. */
  readonly maxOutputTokens: number | null;
  /** Whether it takes system messages inside a conversation, where the format knows such; yes when not said. */
  readonly systemTurns?: boolean;
  /** What a server of OpenAI's chat format calls the ceiling on output; `max_completion_tokens` when not said. */
  readonly maxTokensName?: "max_tokens" | "max_completion_tokens";
}

/** What the writer of an answer must know of the call. */
export interface ReplyContext {
  /** For answers whose provider gave no id: unique, letters and digits. */
  readonly callId: string;
  /** The model as the caller named it. */
  readonly model: string;
  /** Unix seconds. */
  readonly created: number;
  /** The caller's own body: some formats repeat parts of it in the answer. */
  readonly request: JsonObject;
  /** Whether a streaming caller asked for usage, where the format makes that a question. */
  readonly includeUsage: boolean;
}

export type RequestRead =
  | {
      readonly request: ConversationRequest;
      /** Fields of the caller that no other format can say and whose loss does no harm, by the caller's own names. */
      readonly dropped: readonly string[];
    }
  /** Fields whose loss would change what the caller gets. */
  | { readonly unsupported: readonly FieldProblem[] };

export type RequestWritten =
  | {
      readonly body: JsonObject;
      /** What this format cannot say and whose loss does no harm. */
      readonly dropped: readonly Feature[];
    }
  | { readonly unsupported: readonly { readonly feature: Feature; readonly message: string }[] };

export interface StreamReader {
  /** Events of a piece of the provider's bytes, however they were cut. Bytes that make no sense become a fault. */
  push(piece: Uint8Array): ConversationEvent[];
  /** Call once the provider closed its stream. `complete` is false when the answer had not ended. */
  end(): { readonly events: readonly ConversationEvent[]; readonly complete: boolean };
  /** As in `StreamCodec`, as the next. */
  readonly closed?: boolean;
  readonly served?: ServiceTier | undefined;
}

export interface StreamWriter {
  /** Text to send for an event; empty when it needs none. */
  write(event: ConversationEvent): string;
  /** What closes the answer, usage included: the caller's last frame or frames. Call once, only for a complete answer. */
  close(): string;
  /** As `referable` of the codec, once the answer is closed. */
  referable?(): ReadonlyMap<string, string>;
}

/** The half of a format that speaks with providers. Pure, no I/O; lenient with what providers send, and never throws. */
export interface ProviderCodec {
  readonly format: ConversationFormat;
  /** Whether providers of the format sign what they want to see again. */
  readonly signs: boolean;
  /** Whether the format cannot name a picture by its address: its bytes are then fetched before a request is written. */
  readonly needsMediaBytes: boolean;
  writeRequest(request: ConversationRequest, target: TargetModel): RequestWritten;
  /** What a body that `writeRequest` wrote tells the model of how to answer. */
  sentSettings(body: JsonObject): SentSettings;
  /** Null when the body is not an answer of this format. */
  readReply(body: JsonObject): ConversationReply | null;
  streamReader(): StreamReader;
  /** `body` is null when it was no JSON object. Some vendors name the fault in a header. */
  readFault(status: number, body: JsonObject | null, headers?: Headers): ProviderFault;
}

/** The half of a format that speaks with callers. Pure, no I/O, never throws. */
export interface CallerCodec {
  readonly format: ConversationFormat;
  /** How this format's callers spell each feature, for reports they can act on. */
  readonly spelling: Readonly<Record<Feature, string>>;
  /** How the answers of the format hold their texts. */
  readonly answerTexts: AnswerTexts;
  /** The last words of a request's user, apart from the rest; null where it does not end in a text of theirs. */
  question(body: JsonObject): CacheQuestion | null;
  /** `body` has passed this format's own checks (its InboundRequest). */
  readRequest(body: JsonObject): RequestRead;
  writeReply(reply: ConversationReply, context: ReplyContext): JsonObject;
  streamWriter(context: ReplyContext): StreamWriter;
  /** What of a whole answer later requests may name instead of repeating it, as JSON by its ids; absent where no request can. */
  referable?(answer: JsonObject, request: JsonObject): ReadonlyMap<string, string>;
  /** The format's own error envelope. `callId`: what the caller knows the request by. */
  writeFault(fault: ProviderFault, callId: string): JsonObject;
}

/** One format, both ways: a translation is the reader of one codec and the writer of another. */
export interface ConversationCodec extends ProviderCodec, CallerCodec {}
