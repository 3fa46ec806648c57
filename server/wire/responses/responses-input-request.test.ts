import { expect, test } from "bun:test";
import { readResponsesInput } from "./responses-input-request.ts";

const changes = { model: "gpt-x", defaultTemperature: 0.2, defaultMaxTokens: 50, systemPrompt: "Be brief." };

function read(body: object) {
  const request = readResponsesInput(new TextEncoder().encode(JSON.stringify(body)));
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}

test("counting or compacting an input sends the input without any generation settings", () => {
  const request = read({ model: "m", input: "hi", tools: [], store: false, stream: true, top_p: 1, max_output_tokens: 9 });
  request.temperature = 0.3;
  expect(JSON.parse(request.outbound(changes))).toEqual({ model: "gpt-x", input: "hi", tools: [], instructions: "Be brief." });
  expect(request.sentSettings(changes)).toEqual({ temperature: null, maxTokens: null, instructions: "Be brief." });
});

test("every problem of a body names its field", () => {
  expect(readResponsesInput(new TextEncoder().encode('{"input":1}'))).toMatchObject({ fields: [{ field: "model" }, { field: "input" }] });
});
