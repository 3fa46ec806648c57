import type { AssistantPart, CacheHint, TextPart, UserPart } from "./conversation-parts.ts";

/**
 * A model request independent of the vendor: translations read into it and write from it. It covers whatever at least two
 * formats can express. Readers report what does not fit here, writers what their format cannot express.
 */
export interface ConversationRequest {
  /** Instructions before the conversation. */
  readonly instructions: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  /** Null if not set by the caller. */
  readonly parallelToolCalls: boolean | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly stop: readonly string[];
  readonly seed: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  /** Number of alternative answers; null for one. */
  readonly candidates: number | null;
  /** The number of alternatives for which log probabilities are requested (0: only the chosen token); null for no log probabilities. */
  readonly logprobs: number | null;
  readonly output: OutputFormat | null;
  readonly reasoning: Reasoning | null;
  /** The caller's identifier for its end user. */
  readonly endUser: string | null;
  readonly stream: boolean;
}

export type Turn =
  | { readonly role: "system"; readonly parts: readonly TextPart[] }
  | { readonly role: "user"; readonly parts: readonly UserPart[] }
  | { readonly role: "assistant"; readonly parts: readonly AssistantPart[] };

export interface Tool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema; null if the tool takes no arguments. */
  readonly schema: Record<string, unknown> | null;
  readonly strict: boolean | null;
  readonly cache?: CacheHint;
}

export type ToolChoice =
  | { readonly kind: "auto" }
  | { readonly kind: "none" }
  | { readonly kind: "required" }
  | { readonly kind: "tool"; readonly name: string }
  /** Only these tools may be called; with `required`, one of them must be. */
  | { readonly kind: "subset"; readonly names: readonly string[]; readonly required: boolean };

export type OutputFormat =
  | { readonly kind: "text" }
  | { readonly kind: "json" }
  | {
      readonly kind: "schema";
      readonly name: string;
      readonly description: string | null;
      readonly schema: Record<string, unknown>;
      readonly strict: boolean | null;
    };

export const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof EFFORTS)[number];

export interface Reasoning {
  /** Null if only a budget was given, or no amount at all. */
  readonly effort: Effort | null;
  /** Tokens; 0 turns reasoning off, -1 leaves the amount to the model. */
  readonly budgetTokens: number | null;
  /** Whether the caller wants to see the reasoning or a summary; null if not set. */
  readonly visible: boolean | null;
}

/** The optional features of a request, as used in reports. Each format maps them to its own field names. */
export const FEATURES = [
  "candidates",
  "logprobs",
  "seed",
  "top_k",
  "stop",
  "presence_penalty",
  "frequency_penalty",
  "temperature",
  "top_p",
  "parallel_tool_calls",
  "tool_choice",
  "tools",
  "tool_strict",
  "output",
  "reasoning",
  "end_user",
  "image",
  "image_detail",
  "file",
  "file_name",
  "citations",
  "audio",
  "cache",
  "system_turn",
  "messages",
] as const;
export type Feature = (typeof FEATURES)[number];
