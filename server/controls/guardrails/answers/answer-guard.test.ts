import { describe, expect, test } from "bun:test";
import { runToEnd } from "../../../kernel/scheduling/in-turns.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import { cpuMs, fixedWorkMs } from "../../../../tests/support/processes/cpu-time.ts";
import type { GuardSettings } from "../text-guard.ts";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { answerGuardRun } from "../../../../tests/support/formats/answer-guard-run.ts";
import { AnswerGuard } from "./answer-guard.ts";
import { EventFraming } from "../../../road/output/frames.ts";

const MAIL = "joe@example.com";
const REDACT: GuardSettings = { pii: { action: "redact" } };

const data = (value: unknown) => `data: ${value === "[DONE]" ? value : JSON.stringify(value)}\n\n`;

/** What results from the frames of a format, as events. */
function through(format: keyof typeof ANSWER_FORMATS, frames: readonly unknown[]) {
  const guard = new AnswerGuard(ANSWER_FORMATS[format], answerGuardRun(REDACT));
  const framing = new EventFraming();
  const out: Uint8Array[] = [];
  const steps: number[] = [];
  for (const frame of frames) {
    for (const passed of framing.push(new TextEncoder().encode(data(frame))))
      for (const given of runToEnd(guard.frames([passed]))) out.push(framing.write(given));
    steps.push(out.length);
  }
  for (const given of runToEnd(guard.end())) out.push(framing.write(given));
  const text = new TextDecoder().decode(concat(out));
  const events = text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => (frame === "data: [DONE]" ? "[DONE]" : JSON.parse(frame.slice(6))));
  return { events, steps, refusal: guard.refusal, text };
}

describe("a finish reason", () => {
  const chat = (content: string, finish: string | null) => ({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
  const gemini = (text: string, finish: string | null) => ({
    candidates: [{ index: 0, content: { role: "model", parts: [{ text }] }, ...(finish === null ? {} : { finishReason: finish }) }],
  });
  const completion = (text: string, finish: string | null) => ({ choices: [{ index: 0, text, finish_reason: finish }] });

  test.each([
    ["chat", chat, "stop"],
    ["chat", chat, ""],
    ["gemini", gemini, "STOP"],
    ["completions", completion, "stop"],
    ["completions", completion, ""],
  ] as const)("in every frame does not split a value (%s, %#)", (format, frame, finish) => {
    const { text, refusal, events } = through(format, [
      frame("Write to joe@exam", finish),
      frame("ple.com to", finish),
      frame("day.", finish),
    ]);
    expect(refusal).toBeNull();
    expect(text).not.toContain("joe@");
    expect(text).not.toContain("ple.com");
    const said = events
      .map((event) => event.choices?.[0].delta?.content ?? event.choices?.[0].text ?? event.candidates?.[0].content.parts[0].text ?? "")
      .join("");
    expect(said).toBe("Write to [REDACTED:email] today.");
  });

  test("is sent with the last of the text when nothing follows", () => {
    const { events, steps } = through("chat", [chat("Mail ", null), chat("joe@example.com", "stop"), { choices: [], usage: {} }, "[DONE]"]);
    expect(events.map((event) => event.choices?.[0]?.delta.content ?? null)).toEqual(["Mail ", "[REDACTED:email]", null, null]);
    expect(steps).toEqual([1, 1, 3, 4]);
  });

  test("followed by another choice's text ends its own choice, so that later text of it is refused", () => {
    const other = { choices: [{ index: 1, delta: { content: "Well." }, finish_reason: null }] };
    const { refusal, text } = through("chat", [chat("Write to joe@exam", "stop"), other, chat("ple.com", "stop")]);
    expect(refusal?.code).toBe("upstream_invalid_response");
    expect(text).not.toContain("ple.com");
  });
});

const chunk = (...choices: object[]) => ({ id: "c", choices });
const delta = (index: number, given: object, finish: string | null = null) => ({ index, delta: given, finish_reason: finish });

describe("a chat completion", () => {
  test("with several calls at the same index has each call redacted separately", () => {
    const named = (id: string, given: string) =>
      chunk(delta(0, { tool_calls: [{ index: 0, id, type: "function", function: { name: "mail", arguments: given } }] }));
    const more = (given: string) => chunk(delta(0, { tool_calls: [{ index: 0, function: { arguments: given } }] }));
    const { events } = through("chat", [
      named("a", '{"to":"joe@'),
      more('example.com"}'),
      named("b", ""),
      more('{"to":'),
      more('"Oslo"}'),
      chunk(delta(0, {}, "tool_calls")),
    ]);
    const calls: string[] = [];
    for (const call of events.flatMap((event) => event.choices[0].delta.tool_calls ?? [])) {
      if (call.id !== undefined) calls.push("");
      calls.push(calls.pop() + call.function.arguments);
    }
    expect(calls.map((given) => JSON.parse(given))).toEqual([{ to: "[REDACTED:email]" }, { to: "Oslo" }]);
    const bare = through("chat", [
      named("a", ""),
      named("b", '{"to":"joe@example.com"}'),
      chunk(delta(0, {}, "tool_calls")),
    ]).events.flatMap((event) => event.choices[0].delta.tool_calls ?? []);
    expect(bare.map((call) => call.function.arguments)).toEqual(["", '{"to":"[REDACTED:email]"}']);
    const body = {
      choices: [
        {
          index: 0,
          message: {
            tool_calls: ["joe@example.com", "Oslo"].map((to, at) => ({
              index: 0,
              id: `c${at}`,
              function: { name: "mail", arguments: JSON.stringify({ to }) },
            })),
          },
          finish_reason: "tool_calls",
        },
      ],
    };
    runToEnd(new AnswerGuard(ANSWER_FORMATS.chat, answerGuardRun(REDACT)).whole(body));
    expect(body.choices[0]?.message.tool_calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
      { to: "[REDACTED:email]" },
      { to: "Oslo" },
    ]);
  });

  test("stream with two choices has their texts inspected separately", () => {
    const { events } = through("chat", [
      chunk(delta(0, { content: "Mail joe" }), delta(1, { content: "Call 4539 1488" })),
      chunk(delta(1, { content: " 0343 6467." }), delta(0, { content: "@example.com now" })),
      chunk(delta(0, {}, "stop")),
      chunk(delta(1, {}, "stop")),
      "[DONE]",
    ]);
    const said = (index: number) =>
      events
        .flatMap((event) => (event === "[DONE]" ? [] : event.choices))
        .filter((choice) => choice.index === index)
        .map((choice) => choice.delta.content ?? "")
        .join("");
    expect([said(0), said(1)]).toEqual(["Mail [REDACTED:email] now", "Call [REDACTED:credit_card]."]);
    expect(events.at(-1)).toBe("[DONE]");
  });

  test("sends held text before the end, also without a finish reason", () => {
    const { events } = through("chat", [chunk(delta(0, { role: "assistant", content: "Well" })), "[DONE]"]);
    expect(events).toEqual([chunk(delta(0, { role: "assistant", content: "" })), chunk(delta(0, { content: "Well" })), "[DONE]"]);
  });

  test("has reasoning and content inspected separately", () => {
    const { events } = through("chat", [
      chunk(delta(0, { reasoning_content: "Say joe@" })),
      chunk(delta(0, { content: "Hi joe" })),
      chunk(delta(0, { content: ` and ${MAIL}` })),
      chunk(delta(0, {}, "stop")),
    ]);
    const all = (name: string) =>
      events
        .flatMap((event) => event.choices)
        .map((choice) => choice.delta[name] ?? "")
        .join("");
    expect([all("reasoning_content"), all("content")]).toEqual(["Say joe@", "Hi joe and [REDACTED:email]"]);
  });

  test("loses its log probabilities, which repeat the text", () => {
    const { text } = through("chat", [
      { id: "c", choices: [{ ...delta(0, { content: MAIL }), logprobs: { content: [{ token: "joe@", logprob: -1, top_logprobs: [] }] } }] },
      chunk(delta(0, {}, "stop")),
    ]);
    expect(text).not.toContain("joe");
    const body = {
      choices: [{ index: 0, message: { content: `${MAIL}` }, logprobs: { content: [{ token: "joe@" }] }, finish_reason: "stop" }],
    };
    runToEnd(new AnswerGuard(ANSWER_FORMATS.chat, answerGuardRun(REDACT)).whole(body));
    expect(JSON.stringify(body)).not.toContain("joe");
  });

  test("with parallel calls holds them until the last is complete, while text passes", () => {
    const call = (index: number, given: object) => ({ tool_calls: [{ index, ...given }] });
    const frames = [
      chunk(delta(0, call(0, { id: "a", function: { name: "mail", arguments: '{"to":"joe@' } }))),
      chunk(delta(0, call(1, { id: "b", function: { name: "note", arguments: "{}" } }))),
      chunk(delta(0, { content: "One moment. " })),
      chunk(delta(0, call(0, { function: { arguments: 'example.com"}' } }))),
      chunk(delta(0, {}, "tool_calls")),
    ];
    const { events, steps } = through("chat", frames);
    // Until the calls are complete, only the text among the first four has been sent.
    expect(steps.slice(0, 4)).toEqual([0, 0, 1, 1]);
    const args = (index: number) =>
      events
        .flatMap((event) => event.choices[0].delta.tool_calls ?? [])
        .filter((tool) => tool.index === index)
        .map((tool) => tool.function.arguments)
        .join("");
    expect([args(0), args(1)]).toEqual(['{"to":"[REDACTED:email]"}', "{}"]);
  });
});

describe("a response", () => {
  test("with two different versions of a call's arguments gets one version in all events", () => {
    const at = { output_index: 0 };
    const item = { type: "function_call", id: "f", call_id: "c", name: "run", arguments: '{"x":2}' };
    const { events } = through("responses", [
      { type: "response.output_item.added", ...at, item: { ...item, arguments: "" }, sequence_number: 0 },
      { type: "response.function_call_arguments.delta", ...at, delta: '{"x":1}', sequence_number: 1 },
      { type: "response.function_call_arguments.done", ...at, arguments: '{"x":2}', sequence_number: 2 },
      { type: "response.output_item.done", ...at, item, sequence_number: 3 },
    ]);
    expect(events.map((event) => event.delta ?? event.arguments ?? event.item.arguments)).toEqual(["", '{"x":2}', '{"x":2}', '{"x":2}']);
  });

  test("has both action members of a computer call inspected", () => {
    const action = { type: "click", x: 1, y: 2 };
    const item = { type: "computer_call", call_id: "c1", action, actions: [{ type: "type", text: `to ${MAIL}` }, { type: "wait" }] };
    const { events } = through("responses", [{ type: "response.output_item.done", output_index: 0, item }]);
    expect(events[0].item).toMatchObject({ action, actions: [{ type: "type", text: "to [REDACTED:email]" }, { type: "wait" }] });
  });

  test("whose output is only in the last event is redacted there", () => {
    const { events } = through("responses", [
      {
        type: "response.completed",
        response: {
          output: [
            { type: "message", content: [{ type: "output_text", text: `Mail ${MAIL}` }] },
            { type: "function_call", name: "mail", arguments: `{"to":"${MAIL}"}` },
          ],
        },
        sequence_number: 9,
      },
    ]);
    expect(events[0].response.output).toEqual([
      { type: "message", content: [{ type: "output_text", text: "Mail [REDACTED:email]" }] },
      { type: "function_call", name: "mail", arguments: '{"to":"[REDACTED:email]"}' },
    ]);
  });
});

/** A vendor's source annotations, with an email address in every text. */
const SOURCED = {
  chat: {
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: "Found.",
          annotations: [
            {
              type: "url_citation",
              url_citation: { url: "https://a.example", title: `By ${MAIL}`, content: `Mail ${MAIL}`, start_index: 0, end_index: 5 },
            },
          ],
        },
        finish_reason: "stop",
      },
    ],
  },
  responses: {
    output: [
      {
        type: "message",
        content: [
          {
            type: "output_text",
            text: "Found.",
            annotations: [{ type: "url_citation", url: "https://a.example", title: `By ${MAIL}`, start_index: 0, end_index: 5 }],
          },
        ],
      },
    ],
  },
  gemini: {
    candidates: [
      {
        content: { parts: [{ text: `Mail ${MAIL} now.` }] },
        finishReason: "STOP",
        groundingMetadata: {
          webSearchQueries: [`who is ${MAIL}`, "mail"],
          searchEntryPoint: { renderedContent: `<a href="https://a.example">${MAIL}</a>` },
          groundingChunks: [
            { web: { uri: "https://a.example", title: `By ${MAIL}` } },
            { retrievedContext: { uri: "https://b.example", text: `Said ${MAIL}` } },
          ],
          groundingSupports: [{ segment: { startIndex: 0, endIndex: 26, text: `Mail ${MAIL} now.` }, groundingChunkIndices: [0] }],
        },
        citationMetadata: { citationSources: [{ title: `Of ${MAIL}`, uri: "https://c.example" }] },
      },
    ],
  },
} as const;

describe("an answer's source annotations", () => {
  test.each(["chat", "responses", "gemini"] as const)("are redacted like its text (%s)", (format) => {
    const body = structuredClone(SOURCED[format]);
    runToEnd(new AnswerGuard(ANSWER_FORMATS[format], answerGuardRun(REDACT)).whole(body as never));
    expect(body).toEqual(JSON.parse(JSON.stringify(SOURCED[format]).replaceAll(MAIL, "[REDACTED:email]")));
  });

  test("are redacted in events of their own, and sent once", () => {
    const responses = through("responses", [
      {
        type: "response.output_text.annotation.added",
        output_index: 0,
        content_index: 0,
        annotation_index: 0,
        annotation: { type: "url_citation", url: "https://a.example", title: `By ${MAIL}` },
        sequence_number: 4,
      },
    ]);
    expect(responses.events[0].annotation).toEqual({ type: "url_citation", url: "https://a.example", title: "By [REDACTED:email]" });
    const [candidate] = SOURCED.gemini.candidates;
    const gemini = through("gemini", [
      { candidates: [{ ...candidate, finishReason: undefined, content: { parts: [{ text: "Mail joe@" }] } }] },
      { candidates: [{ content: { parts: [{ text: "example.com now." }] } }] },
    ]);
    expect(gemini.text).not.toContain("joe");
    expect(gemini.events.filter(({ candidates }) => candidates[0].groundingMetadata !== undefined)).toHaveLength(1);
    expect(gemini.events.map(({ candidates }) => candidates[0].content.parts[0].text).join("")).toBe("Mail [REDACTED:email] now.");
  });
});

describe("a message", () => {
  test("has citations, results of hosted tools and thinking redacted as well", () => {
    const body = {
      type: "message",
      content: [
        { type: "thinking", thinking: `Ask ${MAIL}`, signature: "s" },
        {
          type: "text",
          text: "Found.",
          citations: [{ type: "web_search_result_location", cited_text: `by ${MAIL}`, url: "https://a.example" }],
        },
        {
          type: "code_execution_tool_result",
          tool_use_id: "t",
          content: { type: "code_execution_result", stdout: `${MAIL}\n`, stderr: "" },
        },
        { type: "tool_use", id: "u", name: "mail", input: { to: [MAIL], n: 1 } },
      ],
    };
    runToEnd(new AnswerGuard(ANSWER_FORMATS.messages, answerGuardRun(REDACT)).whole(body as never));
    expect(JSON.stringify(body)).not.toContain("joe");
    expect(body.content[3]).toEqual({ type: "tool_use", id: "u", name: "mail", input: { to: ["[REDACTED:email]"], n: 1 } } as never);
  });
});

describe("a Gemini answer", () => {
  test("with partial function arguments is refused, because they cannot be assembled for inspection", () => {
    const { events, refusal } = through("gemini", [
      {
        candidates: [
          {
            content: {
              parts: [{ functionCall: { name: "mail", partialArgs: [{ jsonPath: "$.to", stringValue: "joe@" }], willContinue: true } }],
            },
          },
        ],
      },
    ]);
    expect([events, refusal?.code]).toEqual([[], "unsupported_parameter"]);
  });
});

describe("an answer with very many texts", () => {
  const choices = (member: "message" | "delta") => Array.from({ length: 30_000 }, (_, index) => ({ index, [member]: { content: "a@" } }));

  test("is inspected in linear time when whole", () => {
    const guard = new AnswerGuard(ANSWER_FORMATS.chat, answerGuardRun(REDACT));
    const body = { choices: choices("message") };
    const started = cpuMs();
    runToEnd(guard.whole(body));
    expect(cpuMs(started)).toBeLessThan(8 * fixedWorkMs());
    expect(body.choices.every(({ message }: any) => message.content === "a@")).toBe(true);
  });

  test("is refused when they are open at once in a stream, because closing each needs a frame as large as its first", () => {
    const started = cpuMs();
    const { refusal, text } = through("chat", [{ choices: choices("delta") }, "[DONE]"]);
    expect([refusal?.code, text]).toEqual(["upstream_invalid_response", ""]);
    expect(cpuMs(started)).toBeLessThan(8 * fixedWorkMs());
    expect(
      through(
        "chat",
        Array.from({ length: 1_001 }, (_, index) => ({ choices: [{ index, delta: { content: "a" } }] })),
      ).refusal?.code,
    ).toBe("upstream_invalid_response");
    const calls = (count: number) => [
      ...Array.from({ length: count }, (_, output_index) => ({
        type: "response.output_item.added",
        output_index,
        item: { type: "function_call", name: "f", arguments: "" },
      })),
      ...Array.from({ length: count }, (_, output_index) => ({
        type: "response.output_item.done",
        output_index,
        item: { type: "function_call", name: "f", arguments: "{}" },
      })),
    ];
    expect(through("responses", calls(1_002)).refusal?.code).toBe("upstream_invalid_response");
    expect(through("responses", calls(100))).toMatchObject({ refusal: null, events: { length: 200 } });
    const few = through("chat", [{ choices: choices("delta").slice(0, 128) }, "[DONE]"]);
    expect(few.refusal).toBeNull();
    expect(few.text).toContain("a@");
  });
});
