import { expect, test } from "bun:test";
import { readEmbeddingsRequest } from "./embeddings-request.ts";

const read = (body: object) => readEmbeddingsRequest(new TextEncoder().encode(JSON.stringify(body)));

test("a field that is null counts as one that was left out", () => {
  const request = read({ model: null, model_id: "m1", input: "hello", dimensions: null, encoding_format: null, user: null });
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  expect([request.model, request.modelId, request.dimensions, request.encoding]).toEqual([null, "m1", null, "float"]);
  const refused = read({ model: null, model_id: null, input: null });
  expect("fields" in refused ? refused.fields.map(({ field }) => field) : null).toEqual(["model", "input"]);
});

test.each([
  ["one", 1],
  [["one", "two"], 2],
  [[1, 2, 3], 1],
  [[[1], [2], [3]], 3],
])("%j is read as %p", (input, prompts) => {
  const request = read({ model: "m", input });
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  expect(request.prompts).toBe(prompts);
});
