/** What a provider said is wrong with a request, if another model may well take it. */
export type RefusedFor = "context_window" | "content_filter";

const CODES_OF_LENGTH =
  /"(?:code|type)"\s*:\s*"(?:context_(?:length|window)_exceeded|exceed_context_size_error|model_max_prompt_tokens_exceeded)"/i;
const WORDS_OF_LENGTH = new RegExp(
  [
    // OpenAI and most compatible servers, also xAI (prompt length) and vLLM.
    String.raw`\bmax(?:imum)? (?:context|prompt|model) length\b`,
    String.raw`\bcontext (?:window|limit|size|length)\b[^.]{0,40}\b(?:exceed|only|too)`,
    String.raw`\b(?:exceeds?|exceeded|longer than|greater than)\b[^.]{0,40}\bcontext (?:window|limit|size|length)\b`,
    // Anthropic, Amazon and Fireworks.
    String.raw`\b(?:prompt|input) is too long\b`,
    // Amazon's own models and Cohere.
    String.raw`\btoo many (?:input )?tokens\b`,
    String.raw`\bnumber of input tokens exceeds\b`,
    // Google, over both of its APIs.
    String.raw`\binput token count\b[^"]{0,60}\b(?:exceeds|only supports)\b`,
    // Hugging Face and Together.
    String.raw`\binputs\W{1,3}(?:tokens \+|must have less than \d+ tokens)`,
  ].join("|"),
  "i",
);

const CODES_OF_FILTER =
  /"(?:code|type|error_type)"\s*:\s*"(?:content_filter(?:ed)?|content_policy_violation|moderation_blocked|ResponsibleAIPolicyViolation|data_inspection_failed)"/i;
const WORDS_OF_FILTER =
  /\bcontent management policy\b|\bcontent filter(?:s|ing policy)?\b|\bcontent violates usage guidelines\b|\b(?:your (?:input|prompt) was|prompt has been) flagged\b|\brejected (?:as a result of our|by the) safety system\b|\bcontent exists risk\b|"flagged_input"/i;

/** The statuses with which vendors refuse a request for what it is. A content filter's 403 looks like one about a key and is read elsewhere. */
const STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);

/**
 * Whether an error that a provider answered with, or reported within a stream, is about the length of the request or its content. A
 * caller's own words may be repeated in it: whoever makes a provider say this only sends their own call to another member.
 */
export function refusedFor(status: number, text: string): RefusedFor | null {
  if (!STATUSES.has(status)) return null;
  if (CODES_OF_LENGTH.test(text)) return "context_window";
  if (CODES_OF_FILTER.test(text)) return "content_filter";
  if (WORDS_OF_LENGTH.test(text)) return "context_window";
  return WORDS_OF_FILTER.test(text) ? "content_filter" : null;
}
