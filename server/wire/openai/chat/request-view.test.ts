import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type ChatRequest, readChatRequest } from "./request.ts";

const UNCHANGED = { model: "m", defaultTemperature: null, defaultMaxTokens: null, systemPrompt: null };
const encoder = new TextEncoder();

function read(body: string | object): ChatRequest {
  const request = readChatRequest(encoder.encode(typeof body === "string" ? body : JSON.stringify(body)));
  if ("fields" in request) throw new Error(JSON.stringify(request.fields));
  return request;
}
const out = (request: ChatRequest) => JSON.parse(request.outbound(UNCHANGED));
const hi = { role: "user", content: "hi" };

describe("the texts of a chat request", () => {
  const body = {
    model: "m",
    messages: [
      { role: "system", content: "S1" },
      { role: "developer", content: [{ type: "text", text: "S2" }] },
      { role: "user", content: [{ type: "text", text: "U1" }, { type: "image_url", image_url: { url: "https://x" } }, "U2"] },
      {
        role: "assistant",
        reasoning_content: "R",
        content: null,
        refusal: "N",
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: '{"k":"A"}' } },
          { id: "b", type: "custom", custom: { name: "g", input: "C" } },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: [{ type: "text", text: "T" }] }],
        function_call: { name: "f", arguments: '{"k":"L"}' },
      },
      {
        role: "tool",
        tool_call_id: "a",
        content: [
          { type: "text", text: "O1" },
          { type: "tool_result", content: [{ type: "text", text: "O2" }] },
        ],
      },
      { role: "function", name: "f", content: "O3" },
    ],
    prediction: { type: "content", content: "P" },
  };

  test("are found in order, with their roles", () => {
    expect(
      read(body)
        .texts()
        .map(({ role, kind, text }) => [role, kind, text]),
    ).toEqual([
      ["system", "text", "S1"],
      ["system", "text", "S2"],
      ["user", "text", "U1"],
      ["user", "text", "U2"],
      ["assistant", "text", "R"],
      ["assistant", "text", "N"],
      ["assistant", "arguments", '{"k":"A"}'],
      ["assistant", "text", "C"],
      ["assistant", "text", "T"],
      ["assistant", "arguments", '{"k":"L"}'],
      ["tool", "text", "O1"],
      ["tool", "text", "O2"],
      ["tool", "text", "O3"],
      ["assistant", "text", "P"],
    ]);
  });

  test("are each replaced in place", () => {
    const request = read(body);
    const places = request.texts();
    places.forEach((slot, i) => slot.replace(slot.kind === "arguments" ? `{"k":${i}}` : `x${i}`));
    expect(places[0]?.text).toBe("x0");
    expect(
      read(out(request))
        .texts()
        .map(({ text }) => text),
    ).toEqual(places.map(({ kind }, i) => (kind === "arguments" ? `{"k":${i}}` : `x${i}`)));
    expect(request.instructions).toBe("x0\nx1");
  });

  test("are measured together", () => {
    const request = read(body);
    expect(request.inputCharacters).toBe(request.texts().reduce((sum, { text }) => sum + text.length, 0));
    request.texts()[2]?.replace("longer than it was");
    expect(request.inputCharacters).toBe(request.texts().reduce((sum, { text }) => sum + text.length, 0));
    expect(request.instructions).toBe("S1\nS2");
    expect(read({ model: "m", messages: [hi] }).instructions).toBeNull();
  });

  test("can be replaced without changing the bytes of other members", () => {
    const request = read('{ "x": 1.0, "messages":[{"role":"user","content":"a"}],"model":"m" }');
    request.texts()[0]?.replace("b");
    expect(request.outbound(UNCHANGED)).toBe('{ "x": 1.0, "messages":[{"role":"user","content":"b"}],"model":"m" }');
  });
});

describe("instructions added to a chat request", () => {
  test("stand before the first and after the last instruction, with the caller's role for them", () => {
    const request = read({ model: "m", messages: [{ role: "developer", content: "own" }, hi, { role: "system", content: "late" }, hi] });
    request.addInstructions(["one", "two"], ["last"]);
    expect(out(request).messages).toEqual([
      { role: "developer", content: "one\ntwo" },
      { role: "developer", content: "own" },
      hi,
      { role: "system", content: "late" },
      { role: "developer", content: "last" },
      hi,
    ]);
    expect(request.instructions).toBe("one\ntwo\nown\nlate\nlast");
  });

  test("open a conversation without instructions", () => {
    const request = read({ model: "m", messages: [hi] });
    request.addInstructions(["first"], ["second"]);
    expect(out(request).messages).toEqual([{ role: "system", content: "first" }, { role: "system", content: "second" }, hi]);
  });

  test("follow the model's system prompt, and the caller's messages keep their bytes", () => {
    const request = read('{"model":"m","messages": [ {"role":"user","content":"h\\u00e9","n":1.50} ]}');
    expect(request.outbound({ ...UNCHANGED, systemPrompt: "Be brief." })).toBe(
      '{"model":"m","messages": [{"role":"system","content":"Be brief."}, {"role":"user","content":"h\\u00e9","n":1.50} ]}',
    );
    request.addInstructions(["rule"], []);
    expect(
      JSON.parse(request.outbound({ ...UNCHANGED, systemPrompt: "Be brief." })).messages.map(({ content }: { content: string }) => content),
    ).toEqual(["Be brief.", "rule", "hé"]);
  });
});

describe("tools offered in a chat request", () => {
  const tool = (name: string) => ({ type: "function", function: { name } });
  const offer = {
    model: "m",
    messages: [hi],
    tools: [tool("a"), tool("b"), { type: "custom", custom: { name: "c" } }],
    functions: [{ name: "old" }],
    web_search_options: {},
  };

  test("are all named", () => {
    expect(read(offer).tools).toEqual(["a", "b", "c", "old", "web_search"]);
    expect(read({ model: "m", messages: [hi] }).tools).toEqual([]);
  });

  test("are removed together with choices of them", () => {
    const request = read({ ...offer, tool_choice: { type: "function", function: { name: "a" } }, function_call: { name: "old" } });
    request.removeTools(new Set(["a", "old", "web_search"]));
    expect(out(request)).toEqual({ model: "m", messages: [hi], tools: [tool("b"), { type: "custom", custom: { name: "c" } }] });
  });

  test("include searches by vendors' own members", () => {
    const parser = { id: "file-parser" };
    const searching = {
      plugins: [{ id: "web", max_results: 3 }, parser],
      search_parameters: { mode: "on" },
      data_sources: [{ type: "x" }],
    };
    const request = read({ model: "m", messages: [hi], ...searching });
    expect(request.tools).toEqual(["web_search", "web_search", "data_sources"]);
    request.removeTools(new Set(["web_search"]));
    expect(out(request)).toEqual({ model: "m", messages: [hi], plugins: [parser], data_sources: [{ type: "x" }] });
    request.removeTools(new Set(["data_sources"]));
    expect(out(request)).toEqual({ model: "m", messages: [hi], plugins: [parser] });
    const without = { model: "m", messages: [hi], plugins: [parser], search_parameters: { mode: "off" }, data_sources: [] };
    expect(read(without).tools).toEqual([]);
  });

  test("leave a choice with the remaining tools, or none if no tool of it remains", () => {
    const choosing = (...names: string[]) => {
      const request = read({ ...offer, tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: names.map(tool) } } });
      request.removeTools(new Set(["a"]));
      return out(request).tool_choice;
    };
    expect(choosing("a", "b")).toEqual({ type: "allowed_tools", allowed_tools: { mode: "auto", tools: [tool("b")] } });
    expect(choosing("a")).toBe("none");
  });

  test("leave no tool settings if none of them remains", () => {
    const request = read({ model: "m", messages: [hi], tools: [tool("a")], tool_choice: "required", parallel_tool_calls: true });
    request.removeTools(new Set(["a"]));
    expect(request.outbound(UNCHANGED)).toBe(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`);
  });

  test("leave every byte unchanged if the removed tool is not offered", () => {
    const text = JSON.stringify(offer, null, 1);
    const request = read(text);
    request.removeTools(new Set(["other"]));
    expect(request.outbound(UNCHANGED)).toBe(text);
  });
});

describe("settings of a chat request", () => {
  test("are written where the caller had them, or added", () => {
    const request = read({ model: "m", messages: [hi], max_completion_tokens: 900, temperature: 2 });
    expect([request.maxTokens, request.temperature, request.candidates]).toEqual([900, 2, 1]);
    request.maxTokens = 100;
    request.temperature = null;
    expect(out(request)).toEqual({ model: "m", messages: [hi], max_completion_tokens: 100 });
    const silent = read({ model: "m", messages: [hi], n: 3 });
    silent.maxTokens = 50;
    expect([silent.candidates, out(silent).max_tokens]).toEqual([3, 50]);
  });

  test("with two token limits have the higher one counted, and both lowered", () => {
    const request = read({ model: "m", messages: [hi], max_completion_tokens: 10, max_tokens: 5000 });
    expect(request.maxTokens).toBe(5000);
    request.maxTokens = 100;
    expect(out(request)).toMatchObject({ max_completion_tokens: 100, max_tokens: 100 });
  });
});

test.each([
  [{ n: 0 }, "n"],
  [{ tools: ["x"] }, "tools[0]"],
  [{ tools: [{ type: "function", function: { name: 7 } }] }, "tools[0].function.name"],
  ...[0, -1, 1.5, "5", true].flatMap((value): [object, string][] => [
    [{ max_completion_tokens: value }, "max_completion_tokens"],
    [{ max_tokens: value }, "max_tokens"],
  ]),
  [{ stream_options: true }, "stream_options"],
] as [object, string][])("a chat request with %j is refused, naming %s", (more, field) => {
  expect(readChatRequest(encoder.encode(JSON.stringify({ model: "m", messages: [hi], ...more })))).toMatchObject({ fields: [{ field }] });
});

test("reading any chat request body never throws", () => {
  fc.assert(
    fc.property(
      fc.record(
        { model: fc.jsonValue(), messages: fc.jsonValue(), tools: fc.jsonValue(), prediction: fc.jsonValue(), n: fc.jsonValue() },
        { requiredKeys: [] },
      ),
      (body) => {
        const request = readChatRequest(encoder.encode(JSON.stringify(body)));
        if (!("fields" in request)) JSON.parse(request.outbound(UNCHANGED));
      },
    ),
  );
});
