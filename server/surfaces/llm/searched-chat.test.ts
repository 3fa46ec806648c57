import { expect, test } from "bun:test";
import { SearchedStream } from "./searched-chat.ts";

const piece = (body: object) => new TextEncoder().encode(`data: ${JSON.stringify(body)}\n\n`);

test("a web search is metered even if the caller disconnects early", () => {
  const stream = new SearchedStream({ hideUsage: true }, 400);
  stream.push(piece({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] }));
  expect(stream.usage).toBeNull();
  stream.push(piece({ choices: [{ index: 0, delta: { content: "Four" } }] }));
  expect(stream.usage).toMatchObject({ inputUncached: 100, output: 1, webSearches: 1, estimated: true });
  stream.push(piece({ choices: [], usage: { prompt_tokens: 90, completion_tokens: 2, total_tokens: 92 } }));
  expect(stream.usage).toMatchObject({ inputUncached: 90, output: 2, webSearches: 1, estimated: false });
});
