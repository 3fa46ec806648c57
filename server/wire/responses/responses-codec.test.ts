import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ReplyContext } from "../conversation/codec.ts";
import type { Candidate, ConversationEvent, ConversationReply } from "../conversation/reply.ts";
import { DEFAULT_REQUEST } from "../conversation/default-request.ts";
import type { ConversationRequest } from "../conversation/request.ts";
import type { AssistantPart } from "../conversation/conversation-parts.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { cut, cuts } from "../openai/arbitrary-cuts.ts";
import { eventsOf, replyOf } from "../openai/arbitrary-events.ts";
import { responsesCodec } from "./responses-codec.ts";
import { fixturesOf } from "../openai/fixture-files.ts";
import { SEALED, said, usage } from "../../../tests/support/formats/responses-codec-parts.ts";

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

describe("a Responses request is read, and written back unchanged", () => {
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

  test("with an empty turn has it written as an empty text, because a message without parts would be refused", () => {
    const silent: ConversationRequest = { ...DEFAULT_REQUEST, turns: [{ role: "user", parts: [] }] };
    const written = responsesCodec.writeRequest(silent, { name: "gpt-5.6", maxOutputTokens: null });
    expect("body" in written && written.body.input).toEqual([{ type: "message", role: "user", content: "" }]);
  });

  test("with a plain string as input is one user turn, and messages may omit their type", () => {
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

/** The events of a stream, without `service_tier`, which only the vendor knows. */
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

describe("a Responses answer", () => {
  for (const [name, reply] of Object.entries(ANSWERS)) {
    test(`${name}, complete: is read, and written with every member of the vendor's`, () => {
      const whole = fixtures.json(`reply-${name}.json`);
      expect(responsesCodec.readReply(whole)).toEqual(reply);
      const { service_tier: _, ...fixture } = whole;
      expect(responsesCodec.writeReply(reply, CONTEXT)).toEqual(fixture);
    });
    test(`${name}, streamed: is equal however its bytes are cut`, () => {
      fc.assert(
        fc.property(cuts, (sizes) => expect(streamed(fixtures.text(`stream-${name}.sse`), sizes)).toEqual(reply)),
        { numRuns: 20 },
      );
    });
    test(`${name}, streamed to a caller: has the vendor's events, numbered, and no [DONE]`, () => {
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

  test("has a tool call cut by the token limit marked incomplete, and no other", () => {
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

  test("that was filtered is incomplete with the reason content_filter", () => {
    const reply = answer([said("Once")], "filtered", usage(9, 1));
    expect(responsesCodec.readReply(fixtures.json("reply-filter.json"))).toEqual(reply);
    expect(responsesCodec.writeReply(reply, CONTEXT)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "content_filter" },
    });
  });

  test("that failed or has not ended is null", () => {
    expect(responsesCodec.readReply(fixtures.json("reply-failed.json"))).toBeNull();
    expect(responsesCodec.readReply({ output: [], status: "queued" })).toBeNull();
    expect(responsesCodec.readReply({ choices: [] })).toBeNull();
  });

  test("has interleaved calls, several summaries and items of other tools read in order", () => {
    expect(streamed(fixtures.text("stream-interleaved.sse"), [31])).toEqual(
      answer([{ kind: "reasoning", text: "One.\n\nTwo.", redacted: false }, ...CALLS], "tool_call", usage(9, 20)),
    );
  });

  test("is read completely from a stream's last event alone", () => {
    const wire = fixtures.text("stream-full.sse");
    expect(streamed(wire.slice(wire.indexOf("event: response.completed")), [50])).toEqual(ANSWERS.full as ConversationReply);
  });

  test("is incomplete without the stream's last event", () => {
    const wire = fixtures.text("stream-full.sse");
    const reader = responsesCodec.streamReader();
    reader.push(new TextEncoder().encode(wire.slice(0, wire.indexOf("event: response.completed") + 40)));
    expect(reader.end().complete).toBe(false);
  });

  test.each([
    ["stream-failed.sse", { status: 500, message: "The model failed.", code: "server_error", param: null }],
    ["stream-error.sse", { status: 429, message: "Too many.", code: "rate_limit_exceeded", param: null }],
  ])("ends in a fault for %s", (name, fault) => {
    const reader = responsesCodec.streamReader();
    const events = reader.push(new TextEncoder().encode(fixtures.text(name)));
    expect(events.at(-1)).toEqual({ kind: "fault", fault });
    expect(reader.end()).toEqual({ events: [], complete: false });
  });

  test("has a fault written as the vendor's error event, with the error object for its clients", () => {
    const wire = responsesCodec
      .streamWriter(CONTEXT)
      .write({ kind: "fault", fault: { status: 503, message: "busy", code: "overloaded", param: null } });
    const told = { code: "overloaded", message: "busy", param: null };
    expect(eventsIn(wire)).toEqual([{ type: "error", sequence_number: 0, ...told, error: { ...told, type: "server_error" } }]);
  });

  test("never contains signatures of other vendors", () => {
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

  test("has calls with the same ID distinguished, and empty objects for missing arguments", () => {
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
      "a malformed tool call",
      { stop: "malformed", stopDetail: "bad JSON" },
      { status: "failed", error: { code: "server_error", message: "bad JSON" } },
    ],
    ["a pause", { stop: "pause", stopDetail: null }, { status: "completed", error: null }],
    [
      "a refusal without text",
      { stop: "refusal", stopDetail: "cyber" },
      {
        status: "incomplete",
        incomplete_details: { reason: "content_filter" },
        output: [{ content: [{ type: "refusal", refusal: "cyber" }] }],
      },
    ],
  ] as const)("is written for %s", (_what, end, expected) => {
    const reply: ConversationReply = { id: null, candidates: [{ index: 0, parts: [], stopSequence: null, ...end }], usage: null };
    expect(responsesCodec.writeReply(reply, CONTEXT)).toMatchObject({ id: "resp_k", usage: null, ...expected } as object);
    const writer = responsesCodec.streamWriter(CONTEXT);
    for (const event of eventsOf(reply, 9)) writer.write(event);
    expect(eventsIn(writer.close())).toMatchObject([{ type: `response.${expected.status}`, response: expected }] as object[]);
  });
});
