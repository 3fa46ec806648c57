import { expect, test } from "bun:test";
import { readCompletionsRequest } from "./completions-request.ts";

test.each([
  [{ prompt: "a" }, 1, 1],
  [{ prompt: ["a", "b"], n: 2 }, 4, 4],
  [{ prompt: [1, 2, 3], n: 2, best_of: 5 }, 2, 5],
  [{ prompt: [[1], [2]], best_of: 3 }, 2, 6],
])("the completion request %j gives %p choices and is metered as up to %p candidates", (body, choices, candidates) => {
  const request = readCompletionsRequest(new TextEncoder().encode(JSON.stringify({ model: "m", ...body })));
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  expect([request.choices, request.candidates]).toEqual([choices, candidates]);
});

test.each([
  [{}, 0],
  [{ echo: true, max_tokens: 5 }, 4],
  [{ echo: true, max_tokens: 0 }, Number.POSITIVE_INFINITY],
])("echoed prompt characters of the completion request %j do not count as output: %p", (body, characters) => {
  const request = readCompletionsRequest(new TextEncoder().encode(JSON.stringify({ model: "m", prompt: ["four", "four"], ...body })));
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  expect(request.echoedCharacters).toBe(characters);
});
