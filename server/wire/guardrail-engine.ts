/** What a text is checked for that an engine found. */
export type EngineCheck = "prompt_injection" | "jailbreak" | "pii" | "toxic_content" | "banned_words" | "secrets" | "banned_pattern";

/** `failed`: the engine could not be asked or did not give a verdict; the reason names no credential and repeats no text. */
export type EngineVerdict =
  | { readonly kind: "clear" }
  | { readonly kind: "found"; readonly check: EngineCheck }
  | { readonly kind: "failed"; readonly reason: string };

/** How one engine is reached. */
export interface EngineSettings {
  /** Null: the vendor's own. */
  readonly endpoint: string | null;
  readonly apiKey: string | null;
  /** From 0 to 1. */
  readonly threshold: number;
  readonly model: string | null;
  readonly identifier: string | null;
  readonly version: string | null;
}

export interface EngineQuestion {
  readonly text: string;
  readonly direction: "input" | "output";
  /** Ends the question; pulled by the timeout too. */
  readonly abort: AbortController;
  readonly timeoutMs: number;
}

/** Checks a text somewhere else. Never throws for what the network or the other side did. */
export interface Engine {
  /** Longest text it takes at once, in characters. */
  readonly longest: number;
  ask(settings: EngineSettings, question: EngineQuestion): Promise<EngineVerdict>;
}

export const CLEAR: EngineVerdict = { kind: "clear" };

export function failed(reason: string): EngineVerdict {
  return { kind: "failed", reason };
}
