import { expect, test } from "bun:test";
import { readGeminiUsage } from "./gemini/usage.ts";
import { usageOf as messagesUsage } from "./messages/usage.ts";
import { usageOf as chatUsage } from "./openai/usage.ts";
import { ResponsesStream } from "./responses/responses-stream.ts";
import { usageOfResponse } from "./responses/usage.ts";

/** What vendors report beside plain tokens, in each vendor's own words. */
test("audio tokens of a chat completion", () => {
  const usage = { prompt_tokens: 100, completion_tokens: 50, prompt_tokens_details: { cached_tokens: 20, audio_tokens: 60 }, completion_tokens_details: { audio_tokens: 30 } };
  expect(chatUsage(usage)).toMatchObject({ inputUncached: 80, audioInput: 60, output: 50, audioOutput: 30 });
  // More than there can be is not believed.
  expect(chatUsage({ ...usage, prompt_tokens_details: { cached_tokens: 90, audio_tokens: 60 } })).toMatchObject({ inputUncached: 10, audioInput: 10 });
  expect(chatUsage({ prompt_tokens: 1, completion_tokens: 1 })).not.toHaveProperty("audioInput");
});

test("audio tokens of Gemini, those from its cache left out", () => {
  const details = (tokenCount: number) => [{ modality: "TEXT", tokenCount: 10 }, { modality: "AUDIO", tokenCount }];
  const usage = { promptTokenCount: 100, cachedContentTokenCount: 40, candidatesTokenCount: 30, promptTokensDetails: details(90), cacheTokensDetails: details(40), candidatesTokensDetails: details(20) };
  expect(readGeminiUsage(usage)).toMatchObject({ inputUncached: 60, audioInput: 50, output: 30, audioOutput: 20 });
  expect(readGeminiUsage({ promptTokenCount: 5, promptTokensDetails: [{ modality: "TEXT", tokenCount: 5 }] })).not.toHaveProperty("audioInput");
});

test("searches that Anthropic ran", () => {
  expect(messagesUsage({ input_tokens: 5, output_tokens: 5, server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 } })).toMatchObject({ webSearches: 2 });
  expect(messagesUsage({ input_tokens: 5, output_tokens: 5, server_tool_use: null })).not.toHaveProperty("webSearches");
});

test("searches among the output of a response, whole and streamed", () => {
  const search = (type: string) => ({ type: "web_search_call", id: "ws", status: "completed", action: { type } });
  const response = { output: [search("search"), search("open_page"), { type: "message", content: [] }, search("search")], usage: { input_tokens: 5, output_tokens: 5 } };
  expect(usageOfResponse(response)).toMatchObject({ inputUncached: 5, webSearches: 2 });
  const stream = new ResponsesStream();
  stream.push(new TextEncoder().encode(`event: response.completed\ndata: ${JSON.stringify({ type: "response.completed", response })}\n\n`));
  stream.end();
  expect(stream.usage).toMatchObject({ webSearches: 2 });
});
