import { describe, expect, test } from "bun:test";
import { readResponsesRequest, type ResponsesRequest } from "./responses-request.ts";

const UNCHANGED = { model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };
const encoder = new TextEncoder();

function read(body: string | object): ResponsesRequest {
  const request = readResponsesRequest(encoder.encode(typeof body === "string" ? body : JSON.stringify(body)));
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}
const out = (request: ResponsesRequest) => JSON.parse(request.outbound(UNCHANGED));

describe("an outbound Responses request", () => {
  test("is sent byte for byte if nothing had to change, including stateful members", () => {
    const text = '{ "input":"h\\u00e9",  "model":"m", "store":true, "previous_response_id":"resp_1", "stream":true, "x": 1.0 }';
    expect(read(text).outbound(UNCHANGED)).toBe(text);
  });

  test("has the provider's model and defaults for what the caller left out", () => {
    const changes = { model: "gpt-x", defaultTemperature: 0.2, defaultMaxTokens: 50, systemPrompt: "Be brief." };
    expect(JSON.parse(read({ model_id: "0b", input: "hi" }).outbound(changes))).toEqual({
      model: "gpt-x",
      temperature: 0.2,
      max_output_tokens: 50,
      instructions: "Be brief.",
      input: "hi",
    });
    expect(
      JSON.parse(read({ model: "a", input: "hi", instructions: "Own.", temperature: 1, max_output_tokens: 9 }).outbound(changes)),
    ).toEqual({ model: "gpt-x", input: "hi", instructions: "Be brief.\nOwn.", temperature: 1, max_output_tokens: 9 });
  });

  test("sets max_output_tokens, whatever the model's name for the limit in chat completions", () => {
    const changes = { ...UNCHANGED, defaultMaxTokens: 50, maxTokensName: "max_completion_tokens" as const };
    expect(JSON.parse(read({ model: "m", input: "hi" }).outbound(changes))).toEqual({ model: "m", input: "hi", max_output_tokens: 50 });
  });
});

describe("the texts of a Responses request", () => {
  const body = {
    model: "m",
    instructions: "S1",
    prompt: { id: "pmpt_1", variables: { city: "V1", file: { type: "input_text", text: "V2" } } },
    input: [
      { role: "developer", content: "S2" },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "U" },
          { type: "input_image", image_url: "https://x" },
        ],
      },
      {
        type: "reasoning",
        id: "rs",
        summary: [{ type: "summary_text", text: "R1" }],
        content: [{ type: "reasoning_text", text: "R2" }],
        encrypted_content: "sealed",
      },
      {
        type: "message",
        role: "assistant",
        content: [
          { type: "output_text", text: "A" },
          { type: "refusal", refusal: "N" },
        ],
      },
      { type: "function_call", call_id: "a", name: "f", arguments: '{"k":"F"}' },
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "O1" }] },
      { type: "function_call_output", call_id: "b", output: "O2" },
      { type: "custom_tool_call", call_id: "c", name: "g", input: "C" },
      { type: "custom_tool_call_output", call_id: "c", output: "O3" },
      { type: "mcp_call", id: "d", name: "h", arguments: "{}", output: "M" },
      { type: "shell_call_output", call_id: "e", output: [{ stdout: "O4", stderr: "O5" }] },
      { type: "file_search_call", id: "g", queries: ["Q"], results: [{ text: "H" }] },
    ],
  };

  test("are found in order, with their roles", () => {
    expect(
      read(body)
        .texts()
        .map(({ role, kind, text }) => `${role} ${kind} ${text}`),
    ).toEqual([
      "system text S1",
      "user text V1",
      "user text V2",
      "system text S2",
      "user text U",
      "assistant text R1",
      "assistant text R2",
      "assistant text A",
      "assistant text N",
      'assistant arguments {"k":"F"}',
      "tool text O1",
      "tool text O2",
      "assistant text C",
      "tool text O3",
      "assistant text M",
      "assistant arguments {}",
      "tool text O4",
      "tool text O5",
      "assistant text H",
      "assistant text Q",
    ]);
  });

  test("are each replaced in place", () => {
    const request = read(body);
    const slots = request.texts();
    slots.forEach((slot, i) => slot.replace(slot.kind === "arguments" ? `{"k":${i}}` : `x${i}`));
    expect(
      read(out(request))
        .texts()
        .map(({ text }) => text),
    ).toEqual(slots.map(({ kind }, i) => (kind === "arguments" ? `{"k":${i}}` : `x${i}`)));
    expect(out(request).input[2].encrypted_content).toBe("sealed");
  });

  test("are measured together, including a plain string input", () => {
    const request = read({ model: "m", input: "hello", instructions: "ab" });
    expect([request.inputCharacters, request.instructions]).toEqual([7, "ab"]);
    request.texts()[1]?.replace("x");
    expect([request.inputCharacters, out(request).input]).toEqual([3, "x"]);
  });
});

describe("instructions added to a Responses request", () => {
  test("are joined with `instructions`", () => {
    const request = read({ model: "m", input: "hi", instructions: "own" });
    request.addInstructions(["before"], ["after"]);
    expect(out(request)).toEqual({ model: "m", input: "hi", instructions: "before\nown\nafter" });
  });

  test("are put after instructions in the items, which are read later", () => {
    const request = read({
      model: "m",
      input: [
        { role: "system", content: "own" },
        { role: "user", content: "hi" },
      ],
    });
    request.addInstructions(["before"], ["after"]);
    expect(out(request)).toMatchObject({
      instructions: "before",
      input: [{ content: "own" }, { role: "developer", content: "after" }, { content: "hi" }],
    });
    expect(request.instructions).toBe("before\nown\nafter");
  });

  test("change no byte if there are none", () => {
    const text = '{"model":"m", "input":"hi"}';
    const request = read(text);
    request.addInstructions([], []);
    expect(request.outbound(UNCHANGED)).toBe(text);
  });
});

describe("tools offered in a Responses request", () => {
  const fn = (name: string) => ({ type: "function", name });
  test("are named: built-in ones by type, and those in namespaces and items", () => {
    const request = read({
      model: "m",
      tools: [fn("a"), { type: "web_search" }, { type: "namespace", name: "n", tools: [fn("b")] }],
      input: [
        { role: "user", content: "x" },
        { type: "additional_tools", tools: [fn("c")] },
      ],
    });
    expect(request.tools).toEqual(["a", "web_search", "n", "b", "c"]);
    request.removeTools(new Set(["web_search", "b", "c"]));
    expect(out(request)).toMatchObject({ tools: [fn("a"), { name: "n", tools: [] }], input: [{}, { tools: [] }] });
  });

  test("are removed together with choices of them", () => {
    const request = read({ model: "m", input: "x", tools: [fn("a"), fn("b")], tool_choice: fn("a") });
    request.removeTools(new Set(["a"]));
    expect(out(request)).toEqual({ model: "m", input: "x", tools: [fn("b")] });
    request.removeTools(new Set(["b"]));
    expect(out(request)).toEqual({ model: "m", input: "x" });
  });
});

describe("an invalid Responses request", () => {
  test.each([
    ["not json", [""]],
    ['{"input":"x"}', ["model"]],
    ['{"model":"m"}', ["input"]],
    ['{"model":"m","input":[]}', ["input"]],
    ['{"model":"m","input":7}', ["input"]],
    ['{"model":"m","input":["x",{"type":5},{"content":"x"}]}', ["input[0]", "input[1].type", "input[2].role"]],
    ['{"model":"m","input":"x","stream":1}', ["stream"]],
    ['{"model":"m","input":"x","store":"yes"}', ["store"]],
    ['{"model":"m","input":"x","background":"yes"}', ["background"]],
    ['{"model":"m","input":"x","previous_response_id":7}', ["previous_response_id"]],
    ['{"model":"m","input":"x","max_output_tokens":1.5}', ["max_output_tokens"]],
    ['{"model":"m","input":"x","max_output_tokens":0}', ["max_output_tokens"]],
    ['{"model":"m","input":"x","max_output_tokens":-1}', ["max_output_tokens"]],
    ['{"model":"m","input":"x","temperature":"hot"}', ["temperature"]],
    ['{"model":"m","input":"x","instructions":[]}', ["instructions"]],
    ['{"model":"m","input":"x","tools":{}}', ["tools"]],
  ])("%s is refused, naming its fields", (text, fields) => {
    const request = readResponsesRequest(encoder.encode(text));
    expect("fields" in request ? request.fields.map(({ field }) => field) : []).toEqual(fields);
  });

  test.each([true, false])("background may be combined with streaming (%p)", (stream) => {
    expect(out(read({ model: "m", input: "x", background: true, stream }))).toMatchObject({ background: true });
  });

  test("input may be missing with a prompt template stored at the provider", () => {
    expect(read({ model: "m", prompt: { id: "pmpt_1" } }).texts()).toEqual([]);
  });
});
