import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ReplyContext } from "../conversation/codec.ts";
import type { Candidate, ConversationEvent, ConversationReply } from "../conversation/reply.ts";
import { DEFAULT_REQUEST } from "../conversation/default-request.ts";
import type { ConversationRequest } from "../conversation/request.ts";
import type { AssistantPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../document.ts";
import { cut, cuts, mutated } from "../openai/arbitrary-cuts.ts";
import { eventsOf, replyOf } from "../openai/arbitrary-events.ts";
import { fixturesOf } from "../openai/fixture-files.ts";
import { responsesCodec } from "./responses-codec.ts";
import { statefulFields } from "./stateful-fields.ts";

const fixtures = fixturesOf(import.meta.url);
const CONTEXT: ReplyContext = {
  callId: "k",
  model: "gpt-5.6",
  created: 1700000000,
  request: {
    reasoning: { effort: "low", summary: "auto" },
    temperature: 0.5,
    top_p: 1,
    text: { format: { type: "text" }, verbosity: "medium" },
  },
  includeUsage: true,
};
const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const PNG = { kind: "image" as const, source: { base64: "iVBORw0KGgo=" }, mediaType: "image/png" };
const CALLS: AssistantPart[] = [
  { kind: "tool_call", id: "call_a", name: "get_weather", arguments: '{"city":"Oslo"}' },
  { kind: "tool_call", id: "call_b", name: "get_weather", arguments: '{"city":"Rome"}' },
];
const SEALED: AssistantPart = {
  kind: "reasoning",
  text: "Two calls.",
  signature: { family: "openai", value: "gAAAsealed" },
  redacted: false,
};
const said = (text: string): AssistantPart => ({ kind: "text", text });

describe("a Responses request is the conversation it means, and is written as it came", () => {
  const expected: Record<string, ConversationRequest> = {
    "request-multipart.json": {
      ...DEFAULT_REQUEST,
      instructions: [{ kind: "text", text: "Answer in one word." }],
      turns: [
        {
          role: "user",
          parts: [
            { kind: "text", text: "What is this?" },
            { ...PNG, detail: "low" },
            { kind: "image", source: { url: "https://example.com/cat.jpg" }, mediaType: null },
            { kind: "file", source: { base64: "JVBERi0xLjc=" }, mediaType: "application/pdf", name: "terms.pdf" },
          ],
        },
      ],
      maxOutputTokens: 64,
      temperature: 0.2,
      topP: 0.9,
      endUser: "ada",
      output: { kind: "schema", name: "place", description: "A place.", schema: SCHEMA, strict: true },
    },
    "request-tools.json": {
      ...DEFAULT_REQUEST,
      turns: [
        { role: "user", parts: [{ kind: "text", text: "Weather in Oslo and Rome?" }] },
        { role: "assistant", parts: [SEALED, said("I look."), ...CALLS] },
        {
          role: "user",
          parts: [
            { kind: "tool_result", callId: "call_a", toolName: null, content: [{ kind: "text", text: "-3" }], isError: false },
            { kind: "tool_result", callId: "call_b", toolName: null, content: [{ kind: "text", text: "14" }, PNG], isError: false },
          ],
        },
        { role: "system", parts: [{ kind: "text", text: "Celsius." }] },
      ],
      tools: [
        { name: "get_weather", description: "Weather of a city.", schema: SCHEMA, strict: true },
        { name: "now", description: null, schema: null, strict: false },
      ],
      toolChoice: { kind: "subset", names: ["get_weather"], required: true },
      parallelToolCalls: false,
      reasoning: { effort: "low", budgetTokens: null, visible: true },
      stream: true,
    },
  };
  for (const [name, request] of Object.entries(expected)) {
    test(name, () => {
      expect(responsesCodec.readRequest(fixtures.json(name))).toEqual({ request, dropped: [] });
      expect(responsesCodec.writeRequest(request, { name: "gpt-5.6", maxOutputTokens: null })).toEqual({
        body: fixtures.json(name),
        dropped: [],
      });
    });
  }

  test("a plain string is one turn of the user, and messages may leave out their type", () => {
    const turns = [{ role: "user", parts: [{ kind: "text", text: "hi" }] }];
    expect(responsesCodec.readRequest({ model: "m", input: "hi" })).toMatchObject({ request: { turns } });
    expect(
      responsesCodec.readRequest({
        model: "m",
        instructions: "a",
        input: [
          { role: "developer", content: "b" },
          { role: "user", content: "hi" },
        ],
      }),
    ).toMatchObject({
      request: {
        instructions: [
          { kind: "text", text: "a" },
          { kind: "text", text: "b" },
        ],
        turns,
      },
    });
  });
});

const usage = (inputUncached: number, output: number, cacheRead = 0, cacheWrite = 0, reasoning = 0) => ({
  inputUncached,
  cacheRead,
  cacheWrite,
  cacheWriteHour: 0,
  output,
  reasoning,
  estimated: false,
});
const answer = (parts: AssistantPart[], stop: Candidate["stop"], counted: ConversationReply["usage"]): ConversationReply => ({
  id: "resp_1",
  candidates: [{ index: 0, parts, stop, stopSequence: null, stopDetail: null }],
  usage: counted,
});
const ANSWERS: Record<string, ConversationReply> = {
  full: answer([SEALED, said("Grüße 👋"), ...CALLS], "tool_call", usage(26, 60, 1024, 50, 40)),
  length: answer([said("Once")], "length", usage(9, 1)),
  refusal: answer([{ kind: "refusal", text: "I can't help with that." }], "refusal", usage(9, 7)),
};

function streamed(wire: string, sizes: readonly number[]): ConversationReply {
  const reader = responsesCodec.streamReader();
  const events = cut(wire, sizes).flatMap((piece) => reader.push(piece));
  const end = reader.end();
  expect(end.complete).toBe(true);
  return replyOf([...events, ...end.events]);
}

/** The events of a stream; `service_tier` is the vendor's own to tell. */
function eventsIn(wire: string): unknown[] {
  return wire
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      const [name, data] = frame.split("\n") as [string, string];
      const event = JSON.parse(data.slice("data: ".length)) as { type: string; response?: { service_tier?: string } };
      expect(name).toBe(`event: ${event.type}`);
      delete event.response?.service_tier;
      return event;
    });
}

describe("a response", () => {
  for (const [name, reply] of Object.entries(ANSWERS)) {
    test(`${name}, whole: read, and written with every member the vendor's own has`, () => {
      const { service_tier: _, ...fixture } = fixtures.json(`reply-${name}.json`);
      expect(responsesCodec.readReply(fixture)).toEqual(reply);
      expect(responsesCodec.writeReply(reply, CONTEXT)).toEqual(fixture);
    });
    test(`${name}, streamed: the same answer however its bytes were cut`, () => {
      fc.assert(
        fc.property(cuts, (sizes) => expect(streamed(fixtures.text(`stream-${name}.sse`), sizes)).toEqual(reply)),
        { numRuns: 20 },
      );
    });
    test(`${name}, streamed to a caller: the vendor's events, one by one, numbered, and no [DONE]`, () => {
      const writer = responsesCodec.streamWriter(CONTEXT);
      const wire =
        eventsOf(reply, name === "full" ? 5 : 100)
          .map((event) => writer.write(event))
          .join("") + writer.close();
      const shapes = (events: unknown[]) =>
        events.map((event) => (event as { type: string }).type).filter((type, i, all) => type !== all[i - 1]);
      const [ours, theirs] = [eventsIn(wire), eventsIn(fixtures.text(`stream-${name}.sse`))];
      expect(shapes(ours)).toEqual(shapes(theirs));
      expect((ours as { sequence_number: number }[]).map((event) => event.sequence_number)).toEqual(ours.map((_event, i) => i));
      const still = (events: unknown[]) =>
        (events as { type: string; sequence_number?: number }[])
          .filter(({ type }) => !type.endsWith(".delta"))
          .map(({ sequence_number: _number, ...event }) => event);
      expect(still(ours)).toEqual(still(theirs));
      expect(wire).not.toContain("[DONE]");
    });
  }

  test("a call that the ceiling cut is incomplete, and no other", () => {
    const calls: AssistantPart[] = [
      said("I look."),
      { kind: "tool_call", id: "a", name: "f", arguments: "{}" },
      { kind: "tool_call", id: "b", name: "f", arguments: '{"n":' },
    ];
    const statuses = [{ status: "completed" }, { status: "completed" }, { status: "incomplete", arguments: '{"n":' }];
    const reply = answer(calls, "length", null);
    expect(responsesCodec.writeReply(reply, CONTEXT)).toMatchObject({ status: "incomplete", output: statuses });
    const writer = responsesCodec.streamWriter(CONTEXT);
    const events = eventsIn(
      eventsOf(reply, 3)
        .map((event) => writer.write(event))
        .join("") + writer.close(),
    ) as { type: string; item: object }[];
    expect(events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item)).toMatchObject(statuses);
    expect(events.at(-1)).toMatchObject({ type: "response.incomplete", response: { output: statuses } });
  });

  test("a filtered one says so", () => {
    const reply = answer([said("Once")], "filtered", usage(9, 1));
    expect(responsesCodec.readReply(fixtures.json("reply-filter.json"))).toEqual(reply);
    expect(responsesCodec.writeReply(reply, CONTEXT)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
    });
  });

  test("one that failed, or has not ended, is no answer", () => {
    expect(responsesCodec.readReply(fixtures.json("reply-failed.json"))).toBeNull();
    expect(responsesCodec.readReply({ output: [], status: "queued" })).toBeNull();
    expect(responsesCodec.readReply({ choices: [] })).toBeNull();
  });

  test("interleaved calls, several summaries and items of other tools are read in order", () => {
    expect(streamed(fixtures.text("stream-interleaved.sse"), [31])).toEqual(
      answer([{ kind: "reasoning", text: "One.\n\nTwo.", redacted: false }, ...CALLS], "tool_call", usage(9, 20)),
    );
  });

  test("a stream of nothing but its end still has the whole answer", () => {
    const wire = fixtures.text("stream-full.sse");
    expect(streamed(wire.slice(wire.indexOf("event: response.completed")), [50])).toEqual(ANSWERS.full as ConversationReply);
  });

  test("a stream without its end is torn", () => {
    const wire = fixtures.text("stream-full.sse");
    const reader = responsesCodec.streamReader();
    reader.push(new TextEncoder().encode(wire.slice(0, wire.indexOf("event: response.completed") + 40)));
    expect(reader.end().complete).toBe(false);
  });

  test.each([
    ["stream-failed.sse", { status: 500, message: "The model failed.", code: "server_error", param: null }],
    ["stream-error.sse", { status: 429, message: "Too many.", code: "rate_limit_exceeded", param: null }],
  ])("%s ends in a fault", (name, fault) => {
    const reader = responsesCodec.streamReader();
    const events = reader.push(new TextEncoder().encode(fixtures.text(name)));
    expect(events.at(-1)).toEqual({ kind: "fault", fault });
    expect(reader.end()).toEqual({ events: [], complete: false });
  });

  test("a fault goes out as the vendor's flat error event", () => {
    const wire = responsesCodec
      .streamWriter(CONTEXT)
      .write({ kind: "fault", fault: { status: 503, message: "busy", code: "overloaded", param: null } });
    expect(eventsIn(wire)).toEqual([{ type: "error", sequence_number: 0, code: "overloaded", message: "busy", param: null }]);
  });

  test("what another vendor sealed never reaches the caller", () => {
    const foreign: AssistantPart[] = [
      { kind: "reasoning", text: "", signature: { family: "anthropic", value: "SEAL" }, redacted: true },
      { kind: "reasoning", text: "seen", signature: { family: "gemini", value: "SEAL" }, redacted: false },
      said("hi"),
    ];
    const reply = answer(foreign, "end", null);
    const writer = responsesCodec.streamWriter(CONTEXT);
    const wire = eventsOf(reply, 3)
      .map((event) => writer.write(event))
      .join("");
    const whole = responsesCodec.writeReply(reply, CONTEXT);
    expect(wire + JSON.stringify(whole)).not.toContain("SEAL");
    expect((whole.output as JsonObject[]).map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(eventsIn(writer.close())).toMatchObject([{ response: { output: whole.output } }]);
  });

  test("calls of one id are told apart, calls without arguments have the empty object", () => {
    const twice: ConversationEvent[] = [0, 1].flatMap((part): ConversationEvent[] => [
      { kind: "part_start", candidate: 0, part, type: "tool_call", id: "a", name: "f" },
      { kind: "part_end", candidate: 0, part },
    ]);
    const writer = responsesCodec.streamWriter(CONTEXT);
    for (const event of twice) writer.write(event);
    expect(eventsIn(writer.close()).at(-1)).toMatchObject({
      response: {
        output: [
          { call_id: "a", arguments: "{}" },
          { call_id: "a_2", arguments: "{}" },
        ],
      },
    });
  });

  test.each([
    [
      "a call the model could not form",
      { stop: "malformed", stopDetail: "bad JSON" },
      { status: "failed", error: { code: "server_error", message: "bad JSON" } },
    ],
    ["a pause", { stop: "pause", stopDetail: null }, { status: "completed", error: null }],
    [
      "a refusal without a word of the model's",
      { stop: "refusal", stopDetail: "cyber" },
      {
        status: "incomplete",
        incomplete_details: { reason: "content_filter" },
        output: [{ content: [{ type: "refusal", refusal: "cyber" }] }],
      },
    ],
  ] as const)("%s", (_what, end, expected) => {
    const reply: ConversationReply = { id: null, candidates: [{ index: 0, parts: [], stopSequence: null, ...end }], usage: null };
    expect(responsesCodec.writeReply(reply, CONTEXT)).toMatchObject({ id: "resp_k", usage: null, ...expected } as object);
    const writer = responsesCodec.streamWriter(CONTEXT);
    for (const event of eventsOf(reply, 9)) writer.write(event);
    expect(eventsIn(writer.close())).toMatchObject([{ type: `response.${expected.status}`, response: expected }] as object[]);
  });
});

describe("what a Responses request asks for and other formats cannot say", () => {
  const read = (more: JsonObject) => responsesCodec.readRequest({ model: "m", input: "hi", ...more });
  test.each([
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: "conv_1" }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["store", { store: true }],
    ["background", { background: true }],
    ["input[0]", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["input[0]", { input: [{ type: "web_search_call", id: "ws_1" }] }],
    ["tools[0]", { tools: [{ type: "web_search" }] }],
    ["tools[0]", { tools: [{ type: "mcp", server_label: "x" }] }],
    ["tools[0]", { tools: [{ type: "custom", name: "x" }] }],
    ["tool_choice", { tool_choice: { type: "file_search" } }],
    ["context_management", { context_management: [{ type: "compaction" }] }],
    ["reasoning.effort", { reasoning: { effort: "huge" } }],
    ["text.format", { text: { format: { type: "grammar" } } }],
    ["input[0].content[0]", { input: [{ role: "user", content: [{ type: "input_audio" }] }] }],
    ["input[0].role", { input: [{ role: "critic", content: "x" }] }],
  ] as [string, JsonObject][])("%s is refused by name", (field, more) => {
    const result = read(more);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.field) : []).toEqual([field]);
  });

  test("what does no harm is dropped by name, and what asks for nothing is not mentioned", () => {
    const result = read({
      metadata: { a: "b" },
      max_tool_calls: 3,
      truncation: "disabled",
      store: false,
      background: false,
      include: ["reasoning.encrypted_content", "file_search_call.results"],
      text: { verbosity: "low" },
      reasoning: { mode: "pro" },
    });
    expect("dropped" in result ? [...result.dropped].sort() : result).toEqual([
      "include",
      "max_tool_calls",
      "metadata",
      "reasoning.mode",
      "text.verbosity",
    ]);
  });

  test("a reference to reasoning that the gateway told is dropped, to anything else refused", () => {
    const told = responsesCodec.writeReply(
      {
        id: null,
        candidates: [
          {
            index: 0,
            parts: [
              { kind: "reasoning", text: "Hm", redacted: false },
              { kind: "text", text: "a" },
            ],
            stop: "end",
            stopSequence: null,
            stopDetail: null,
          },
        ],
        usage: null,
      },
      { callId: "01M830KD0RSWFXX4JPW6VYXEYY", model: "m", created: 1, request: {}, includeUsage: false },
    );
    const [reasoning, message] = told.output as { id: string }[];
    const call = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
    const input = [
      { role: "user", content: "hi" },
      { type: "item_reference", id: reasoning?.id as string },
      call,
      { type: "function_call_output", call_id: "c", output: "4" },
    ];
    expect(read({ input })).toMatchObject({
      dropped: ["input[1]"],
      request: {
        turns: [
          { role: "user" },
          { role: "assistant", parts: [{ kind: "tool_call" }] },
          { role: "user", parts: [{ kind: "tool_result" }] },
        ],
      },
    });
    expect(
      statefulFields({
        input: [
          { type: "item_reference", id: message?.id as string },
          { type: "item_reference", id: "rs_68af2c0b7a3c81a2" },
        ],
      }),
    ).toEqual(["input[0]", "input[1]"]);
  });

  test("an absent store is not a wish to store", () => {
    expect(statefulFields({ input: "hi" })).toEqual([]);
    expect(
      statefulFields({ input: [{ type: "item_reference", id: "a" }], store: true, background: false, prompt: null, conversation: "c" }),
    ).toEqual(["conversation", "store", "input[0]"]);
  });
});

describe("what other formats ask for and Responses cannot say", () => {
  const hello = { role: "user" as const, parts: [{ kind: "text" as const, text: "hi" }] };
  const write = (request: Partial<ConversationRequest>) =>
    responsesCodec.writeRequest({ ...DEFAULT_REQUEST, turns: [hello], ...request }, { name: "m", maxOutputTokens: null });
  test("is dropped where that does no harm", () => {
    expect(write({ topK: 5, seed: 1, presencePenalty: 1, frequencyPenalty: 0 })).toMatchObject({
      dropped: ["seed", "top_k", "presence_penalty"],
    });
  });
  test.each([
    ["candidates", { candidates: 2 }],
    ["stop", { stop: ["a"] }],
    ["logprobs", { logprobs: 2 }],
    ["audio", { turns: [{ role: "user", parts: [{ kind: "audio", base64: "", mediaType: "audio/wav" }] }] }],
    ["messages", { turns: [] }],
  ] as [string, Partial<ConversationRequest>][])("%s is refused", (feature, request) => {
    const result = write(request);
    expect("unsupported" in result ? result.unsupported.map((problem) => problem.feature) : []).toEqual([feature] as never);
  });

  test("asks for sealed reasoning only where reasoning is asked for, and sends back only what OpenAI sealed", () => {
    expect(write({})).toMatchObject({ body: { store: false } });
    expect(write({})).not.toHaveProperty("body.include");
    expect(write({ reasoning: { effort: "none", budgetTokens: null, visible: null } })).not.toHaveProperty("body.include");
    const foreign = write({
      turns: [
        hello,
        {
          role: "assistant",
          parts: [{ kind: "reasoning", text: "x", signature: { family: "anthropic", value: "SEAL" }, redacted: false }, said("y")],
        },
      ],
    });
    expect(JSON.stringify(foreign)).not.toContain("SEAL");
    expect(write({ turns: [hello, { role: "assistant", parts: [SEALED] }] })).toMatchObject({
      body: { include: ["reasoning.encrypted_content"] },
    });
  });
});

describe("nonsense", () => {
  const sources = ["request-multipart", "request-tools", "reply-full", "reply-refusal", "error"].map((name) =>
    fixtures.json(`${name}.json`),
  );
  const events = ["full", "refusal", "interleaved", "failed"].flatMap((name) =>
    fixtures
      .text(`stream-${name}.sse`)
      .split("\n\n")
      .filter((frame) => frame !== ""),
  );
  test("never makes the readers throw", () => {
    fc.assert(
      fc.property(fc.constantFrom(...sources), fc.infiniteStream(fc.nat()), fc.jsonValue(), (source, dice, junk) => {
        const body = mutated(source, dice, junk);
        responsesCodec.readRequest(body);
        responsesCodec.readReply(body);
        responsesCodec.readFault(500, body);
        statefulFields(body);
      }),
      { numRuns: 300 },
    );
  });

  test("an item that begins again after its end does not", () => {
    const reader = responsesCodec.streamReader();
    const send = (event: JsonObject) => reader.push(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
    const item = { type: "function_call", call_id: "a", name: "f", arguments: "{}" };
    const read = [
      { type: "response.output_item.done", output_index: 0, item: { type: "other" } },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.completed", response: { status: "completed", output: [item] } },
    ].flatMap(send);
    expect(replyOf(read).candidates[0]?.parts).toEqual([{ kind: "tool_call", id: "a", name: "f", arguments: "{}" }]);
  });

  test("in a stream, lost, repeated or spoilt events never make the reader throw or break the grammar", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...events), { maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        fc.jsonValue(),
        (frames, dice, junk) => {
          const reader = responsesCodec.streamReader();
          const read: ConversationEvent[] = [];
          for (const frame of frames) {
            const event = mutated(JSON.parse(frame.slice(frame.indexOf("data: ") + 6)) as JsonObject, dice, junk);
            read.push(...reader.push(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`)));
          }
          const end = reader.end();
          const all = [...read, ...end.events];
          if (end.complete) replyOf(all);
          else expect(all.filter(({ kind }) => kind === "start").length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 300 },
    );
  });
});
