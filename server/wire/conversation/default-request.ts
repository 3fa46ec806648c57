import type { ConversationRequest } from "./request.ts";

/** A request that asks for nothing in particular: what a vendor does with it is the vendor's default. */
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
