import { expect, test } from "bun:test";
import { readEmbeddingsRequest } from "./embeddings-request.ts";

const read = (body: object) => readEmbeddingsRequest(new TextEncoder().encode(JSON.stringify(body)));

test("a null field of an embeddings request counts as missing", () => {
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
])("the embeddings input %j has this number of prompts: %p", (input, prompts) => {
  const request = read({ model: "m", input });
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  expect(request.prompts).toBe(prompts);
});

test("texts next to an embeddings input are inspected at any depth, and replaced in place", () => {
  const more = { instruction: "Ada's papers", messages: [{ role: "user", content: [{ type: "text", text: "Ada" }] }], truncate: 7 };
  const request = read({ model: "m", user: "ada", encoding_format: "float", input: ["one", "two"], ...more });
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  expect(request.texts().map(({ text }) => text)).toEqual(["Ada's papers", "user", "text", "Ada", "one", "two"]);
  for (const slot of request.texts()) if (slot.text.includes("Ada")) slot.replace(slot.text.replace("Ada", "[NAME]"));
  const sent = request.outbound({ model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null });
  expect(JSON.parse(sent)).toMatchObject({
    instruction: "[NAME]'s papers",
    messages: [{ role: "user", content: [{ type: "text", text: "[NAME]" }] }],
    user: "ada",
    input: ["one", "two"],
  });
});

test("texts next to an embeddings input of tokens are still inspected", () => {
  const request = read({ model: "m", input: [1, 2, 3], instruction: "Ada" });
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  expect([request.opaque, request.texts().map(({ text }) => text)]).toEqual([true, ["Ada"]]);
});
