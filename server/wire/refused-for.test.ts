import { expect, test } from "bun:test";
import { refusedFor } from "./refused-for.ts";

test.each([
  ["OpenAI", '{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}'],
  ["OpenAI, embeddings", "This model's maximum context length is 8192 tokens, however you requested 9000 tokens."],
  ["Anthropic", '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}'],
  ["Anthropic, with the output", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"],
  ["Gemini", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."],
  ["Vertex", "Unable to submit request because the input token count is 2097153 but model only supports up to 1048576."],
  ["Bedrock", '{"message":"Input is too long for requested model."}'],
  ["Nova", "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again."],
  ["Titan", "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000"],
  ["Cohere", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4292."],
  ["Mistral", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"],
  ["xAI", "This model's maximum prompt length is 131072 but the request contains 137500 tokens."],
  ["vLLM", "You passed 9000 input tokens. However, the model's context length is only 8192 tokens"],
  ["vLLM's decoder", "The decoder prompt (length 9000) is longer than the maximum model length of 8192."],
  ["llama.cpp", '{"error":{"code":400,"message":"no","type":"exceed_context_size_error"}}'],
  ["Ollama", "the input length exceeds the context length"],
  ["Together", "The input (9000 tokens) is longer than the model's context length (8193 tokens)."],
  ["Text Generation Inference", "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"],
])("an error about the length of a request is recognised: %s", (_vendor, text) => {
  expect(refusedFor(400, text)).toBe("context_window");
});

test.each([
  [
    "Azure",
    '{"error":{"message":"The response was filtered due to the prompt triggering our content management policy.","code":"content_filter"}}',
  ],
  ["OpenAI, pictures", '{"error":{"code":"moderation_blocked","message":"Your request was rejected by the safety system."}}'],
  ["OpenAI's older pictures", '{"error":{"code":"content_policy_violation","message":"Your request was rejected."}}'],
  ["OpenAI, reasoning", "Invalid prompt: your prompt was flagged as potentially violating our usage policy."],
  ["Anthropic", "Output blocked by content filtering policy"],
  ["Bedrock", "This request has been blocked by our content filters."],
  ["DeepSeek", '{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}'],
  ["Alibaba", '{"error":{"code":"data_inspection_failed","message":"Output data may contain inappropriate content."}}'],
])("an error of a content filter is recognised: %s", (_vendor, text) => {
  expect(refusedFor(400, text)).toBe("content_filter");
});

test.each([
  [400, "max_tokens is too large: 99999. This model supports at most 16384 completion tokens."],
  [400, '{"error":{"message":"Unknown parameter: context_window.","code":"unknown_parameter"}}'],
  [400, "Invalid 'metadata': string too long. Expected a string with maximum length 512."],
  [429, "Request too large for gpt-4o: too many tokens per minute"],
  [404, "prompt is too long"],
  [500, '{"error":{"code":"context_length_exceeded"}}'],
])("no other error is taken for one of them: %d %s", (status, text) => {
  expect(refusedFor(status, text)).toBeNull();
});
