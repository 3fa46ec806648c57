import { NO_TARGET } from "../target.ts";
import type { RequestView } from "../view.ts";

/** The view of a request that addresses no model. */
export const EMPTY_VIEW: RequestView = {
  target: NO_TARGET,
  streaming: false,
  names: { temperature: "temperature", maxTokens: "max_tokens", input: "input" },
  temperature: null,
  maxTokens: null,
  candidates: 1,
  prompts: 1,
  tools: [],
  webSearches: 0,
  removeTools: () => undefined,
  instructions: null,
  addInstructions: () => undefined,
  texts: () => [],
  definitions: () => [],
  content: () => "",
  repeatedName: null,
  opaque: false,
  inputCharacters: 0,
  withhold: null,
};
