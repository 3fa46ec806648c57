export type UserPart = TextPart | ImagePart | FilePart | AudioPart | ToolResultPart;
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | RefusalPart;

/** A caller's mark that the prompt up to here is worth caching. */
export interface CacheHint {
  readonly ttl: "5m" | "1h";
}

/** What a provider wants sent back unchanged; means nothing to a provider of another family and is dropped there. */
export interface Signature {
  readonly family: "anthropic" | "gemini" | "openai";
  readonly value: string;
}

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
  readonly cache?: CacheHint;
  readonly signature?: Signature;
}

export type MediaSource = { readonly base64: string } | { readonly url: string } | { readonly fileId: string };

export interface ImagePart {
  readonly kind: "image";
  readonly source: MediaSource;
  /** Null where a URL does not say. */
  readonly mediaType: string | null;
  readonly detail?: string;
  readonly cache?: CacheHint;
}

export interface FilePart {
  readonly kind: "file";
  readonly source: MediaSource | { readonly text: string };
  readonly mediaType: string | null;
  readonly name: string | null;
  readonly cache?: CacheHint;
}

export interface AudioPart {
  readonly kind: "audio";
  readonly base64: string;
  /** For example audio/wav. */
  readonly mediaType: string;
}

export interface ToolResultPart {
  readonly kind: "tool_result";
  readonly callId: string;
  /** Where the format names it; else the writer finds it at the call with the same id. */
  readonly toolName: string | null;
  readonly content: readonly (TextPart | ImagePart | FilePart)[];
  readonly isError: boolean;
  readonly cache?: CacheHint;
}

export interface ToolCallPart {
  readonly kind: "tool_call";
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
  readonly signature?: Signature;
  readonly cache?: CacheHint;
}

export interface ReasoningPart {
  readonly kind: "reasoning";
  /** Visible text; empty when it was withheld. */
  readonly text: string;
  readonly signature?: Signature;
  /** The whole of it is sealed in the signature: the provider shows no text (a redacted thinking block). */
  readonly redacted: boolean;
}

export interface RefusalPart {
  readonly kind: "refusal";
  readonly text: string;
}
