import type { Citation } from "./citations.ts";

export type UserPart = TextPart | ImagePart | FilePart | AudioPart | ToolResultPart;
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | RefusalPart;

/** Marks the end of a prompt prefix that the caller wants cached. */
export interface CacheHint {
  readonly ttl: "5m" | "1h";
}

/** Opaque data that its provider must get back unchanged; dropped for providers of another family. */
export interface Signature {
  readonly family: "anthropic" | "gemini" | "openai";
  readonly value: string;
}

export interface TextPart {
  readonly kind: "text";
  readonly text: string;
  readonly cache?: CacheHint;
  readonly signature?: Signature;
  /** Only in answers. */
  readonly citations?: readonly Citation[];
}

export type MediaSource = { readonly base64: string } | { readonly url: string } | { readonly fileId: string };

export interface ImagePart {
  readonly kind: "image";
  readonly source: MediaSource;
  /** Null if a URL does not reveal it. */
  readonly mediaType: string | null;
  readonly detail?: string;
  readonly cache?: CacheHint;
}

export interface FilePart {
  readonly kind: "file";
  readonly source: MediaSource | { readonly text: string };
  readonly mediaType: string | null;
  readonly name: string | null;
  /** Whether the model is asked to say which of its statements come from the file. */
  readonly cited?: true;
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
  /** Null if the format does not include it; writers then use the name in the call with the same ID. */
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
  /** Visible text; empty if withheld. */
  readonly text: string;
  readonly signature?: Signature;
  /** True if the provider shows no text and everything is in the signature (a redacted thinking block). */
  readonly redacted: boolean;
}

export interface RefusalPart {
  readonly kind: "refusal";
  readonly text: string;
}
