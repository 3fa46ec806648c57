import type { ConversationRequest } from "./request.ts";

/** A request without any settings, for which the vendor's defaults apply. */
export const DEFAULT_REQUEST: ConversationRequest = {
  instructions: [],
  turns: [],
  tools: [],
  toolChoice: null,
  parallelToolCalls: null,
  maxOutputTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  stop: [],
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  candidates: null,
  logprobs: null,
  output: null,
  reasoning: null,
  endUser: null,
  stream: false,
};
