/** The kinds of findings that an engine can report. */
export type EngineCheck = "prompt_injection" | "jailbreak" | "pii" | "toxic_content" | "banned_words" | "secrets" | "banned_pattern";

/** `failed`: the engine was unreachable or gave no verdict; `reason` contains no credential and no inspected text. */
export type EngineVerdict =
  | { readonly kind: "clear" }
  | { readonly kind: "found"; readonly check: EngineCheck; readonly values?: readonly EngineValue[] }
  | { readonly kind: "failed"; readonly reason: string };

/** A value that an engine found in the text, and its kind in small letters. */
export interface EngineValue {
  readonly value: string;
  readonly category: string;
}

/** How to reach one engine. */
export interface EngineSettings {
  /** Null for the vendor's own endpoint. */
  readonly endpoint: string | null;
  readonly apiKey: string | null;
  /** Between 0 and 1. */
  readonly threshold: number;
  readonly model: string | null;
  readonly identifier: string | null;
  readonly version: string | null;
  /** The kinds of values to look for, by the engine's names; all of them when left out. */
  readonly entities?: readonly string[] | undefined;
  /** The language of the texts, where the engine needs to know it. */
  readonly language?: string | undefined;
}

export interface EngineQuestion {
  readonly text: string;
  readonly direction: "input" | "output";
  /** Aborts the request; also triggered by the timeout. */
  readonly abort: AbortController;
  readonly timeoutMs: number;
}

/** Checks a text with an external service. Network and service failures are a `failed` verdict, never an exception. */
export interface Engine {
  /** Maximum length of one text, in characters. */
  readonly longest: number;
  ask(settings: EngineSettings, question: EngineQuestion): Promise<EngineVerdict>;
}

export const CLEAR: EngineVerdict = { kind: "clear" };

export function failed(reason: string): EngineVerdict {
  return { kind: "failed", reason };
}
