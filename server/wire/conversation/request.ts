import type { AssistantPart, CacheHint, TextPart, UserPart } from "./conversation-parts.ts";

/**
 * A request to a language model in no vendor's format: what translations read into and write from. It holds whatever
 * two formats can both say. What a reader cannot place here it reports; what a writer cannot express it reports too.
 */
export interface ConversationRequest {
  /** Instructions that stand before the conversation. */
  readonly instructions: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  /** Null: the caller did not say. */
  readonly parallelToolCalls: boolean | null;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly stop: readonly string[];
  readonly seed: number | null;
  readonly presencePenalty: number | null;
  readonly frequencyPenalty: number | null;
  /** Alternative answers asked for; null: one. */
  readonly candidates: number | null;
  /** Whether log probabilities are wanted, and how many alternatives (0: only the chosen token's). */
  readonly logprobs: number | null;
  readonly output: OutputFormat | null;
  readonly reasoning: Reasoning | null;
  /** The caller's own name of its end user. */
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
  /** JSON Schema; null: takes no arguments. */
  readonly schema: Record<string, unknown> | null;
  readonly strict: boolean | null;
  readonly cache?: CacheHint;
}

export type ToolChoice =
  | { readonly kind: "auto" }
  | { readonly kind: "none" }
  | { readonly kind: "required" }
  | { readonly kind: "tool"; readonly name: string }
  /** Only these may be called; `required`: one of them must. */
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
  /** Null where only a budget, or nothing of the amount, was said. */
  readonly effort: Effort | null;
  /** Tokens; 0: off; -1: as the model sees fit. */
  readonly budgetTokens: number | null;
  /** Whether the caller wants to see the reasoning or a summary of it; null: not said. */
  readonly visible: boolean | null;
}

/** What a request can ask for, as reports of it name it. Each format spells these in its own field names. */
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
  "output",
  "reasoning",
  "end_user",
  "image",
  "file",
  "audio",
  "cache",
  "system_turn",
  "messages",
] as const;
export type Feature = (typeof FEATURES)[number];
