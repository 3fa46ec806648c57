import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runToEnd } from "../../../kernel/scheduling/in-turns.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { EventFraming } from "../../../road/output/frames.ts";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { answerGuardRun } from "../../../../tests/support/formats/answer-guard-run.ts";
import { transcriptTexts } from "../../../wire/transcriptions/transcript-texts.ts";
import { pictureTexts } from "../../../wire/images/picture-texts.ts";
import { AnswerGuard } from "./answer-guard.ts";
import type { GuardRun } from "../guard-run.ts";

const FORMATS = { ...ANSWER_FORMATS, transcript: transcriptTexts, pictures: pictureTexts };
type Format = keyof typeof FORMATS;

const MAIL = "joe@example.com";
const LEFT = "[REDACTED:email]";

const mails = (action: "redact" | "block" | "warn") => answerGuardRun({ pii: { action }, secrets: { action } });

function whole(format: Format, body: object, run: GuardRun) {
  const said = structuredClone(body) as JsonObject;
  const guard = new AnswerGuard(FORMATS[format], run);
  const changed = runToEnd(guard.whole(said));
  return { said, text: JSON.stringify(said), changed, refusal: guard.refusal };
}

function through(format: Format, frames: readonly unknown[], run: GuardRun) {
  const guard = new AnswerGuard(FORMATS[format], run);
  const framing = new EventFraming();
  const out: Uint8Array[] = [];
  for (const frame of frames)
    for (const passed of framing.push(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`)))
      for (const given of runToEnd(guard.frames([passed]))) out.push(framing.write(given));
  for (const given of runToEnd(guard.end())) out.push(framing.write(given));
  const text = new TextDecoder().decode(concat(out));
  const events = text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.slice(6)));
  return { events, text, refusal: guard.refusal };
}

const chat = (message: object, more: object = {}) => ({
  id: "chatcmpl-1",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello", ...message }, finish_reason: "stop" }],
  ...more,
});
const completion = (more: object) => ({ object: "text_completion", choices: [{ index: 0, text: "Hello", ...more }] });
const response = (...output: object[]) => ({ object: "response", id: "resp_1", output });
const said = (more: object) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello", ...more }] });
const message = (...content: object[]) => ({ type: "message", role: "assistant", content });
const generated = (...parts: object[]) => ({ candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }] });

/** Whole answers with the value in places where the format has no text. */
const HIDDEN: readonly (readonly [name: string, format: Format, body: (value: string) => object])[] = [
  ["a member beside the choices", "chat", (v) => chat({}, { note: v })],
  ["a deeply nested member", "chat", (v) => chat({}, { note: [{ deep: [[{ deeper: v }]] }] })],
  ["choices that are not a list", "chat", (v) => ({ choices: v })],
  ["a choice that is not an object", "chat", (v) => ({ choices: [v, { index: 0, message: { content: "Hello" } }] })],
  ["a member of a choice", "chat", (v) => ({ choices: [{ index: 0, message: { content: "Hello" }, note: v }] })],
  ["a message beside a delta", "chat", (v) => ({ choices: [{ index: 0, delta: {}, message: { content: v } }] })],
  ["a vendor's thinking member", "chat", (v) => chat({ thinking: v })],
  ["reasoning details", "chat", (v) => chat({ reasoning_details: [{ type: "reasoning.text", note: v }] })],
  ["provider-specific fields", "chat", (v) => chat({ provider_specific_fields: { reasoning: { steps: [v] } } })],
  ["a content that is an object", "chat", (v) => chat({ content: { said: v } })],
  ["a content that is a list of strings", "chat", (v) => chat({ content: [v] })],
  ["a part of unknown type", "chat", (v) => chat({ content: [{ type: "note", lines: { a: v } }] })],
  ["a member of a call", "chat", (v) => chat({ tool_calls: [{ id: "c", function: { name: "f", arguments: "{}", note: v }, note: v }] })],
  ["calls that are not a list", "chat", (v) => chat({ tool_calls: v, function_call: v })],
  ["the name and role of the speaker", "chat", (v) => chat({ name: v, role: `assistant ${v}` })],
  ["an ID with other text", "chat", (v) => chat({}, { id: `Say it to ${v}` })],
  ["usage", "chat", (v) => chat({}, { usage: { total_tokens: 1, note: v } })],
  ["an error beside the answer", "chat", (v) => chat({}, { error: { message: v } })],
  ["an annotation", "chat", (v) => chat({ annotations: [{ type: "note", note: { said: v } }] })],
  ["audio", "chat", (v) => chat({ audio: { id: "a", data: "AAAA", transcript: "Hello", note: v } })],
  ["a member's name", "chat", (v) => chat({}, { [v]: 1 })],
  ["a deeply nested member's name", "chat", (v) => chat({ note: [{ [v]: { a: 1 } }] })],
  ["a member of a choice", "completions", (v) => completion({ note: v, logprobs: null })],
  ["an item of unknown type", "responses", (v) => response({ type: "note", body: { lines: [v] } })],
  ["an item that is a string", "responses", (v) => ({ object: "response", output: [v] })],
  ["a member of an item", "responses", (v) => response({ type: "function_call", name: "f", arguments: "{}", note: v })],
  ["a member of a part", "responses", (v) => response(said({ note: v }))],
  ["a member of a response", "responses", (v) => ({ ...response(said({})), note: v, error: null })],
  ["the error", "responses", (v) => ({ ...response(), error: { code: "server_error", message: v } })],
  ["the reason for being incomplete", "responses", (v) => ({ ...response(), incomplete_details: { reason: v } })],
  ["a tool definition", "responses", (v) => response({ type: "mcp_list_tools", tools: [{ name: "t", input_schema: { title: v } }] })],
  ["a block of unknown type", "messages", (v) => message({ type: "note", body: { lines: [v] } })],
  ["a block that is a string", "messages", (v) => ({ type: "message", content: [v] })],
  ["a member of a text block", "messages", (v) => message({ type: "text", text: "Hello", note: v })],
  ["a member of a call", "messages", (v) => message({ type: "tool_use", id: "t", name: "f", input: {}, note: v })],
  ["a citation", "messages", (v) => message({ type: "text", text: "Hello", citations: [{ type: "note", said: v }] })],
  ["the stop details", "messages", (v) => ({ ...message(), stop_reason: "refusal", stop_details: { explanation: v } })],
  ["the stop sequence", "messages", (v) => ({ ...message(), stop_sequence: v })],
  ["a part of unknown type", "gemini", (v) => generated({ note: { lines: [v] } })],
  ["a member of a part", "gemini", (v) => generated({ text: "Hello", note: v })],
  ["a member in both spellings", "gemini", (v) => generated({ functionResponse: { name: "f" }, function_response: { name: v } })],
  ["the finish message", "gemini", (v) => ({ candidates: [{ finishReason: "OTHER", finishMessage: v }] })],
  ["the reason for a blocked prompt", "gemini", (v) => ({ promptFeedback: { blockReason: "OTHER", blockReasonMessage: v } })],
  ["the grounding metadata", "gemini", (v) => ({ candidates: [{ groundingMetadata: { note: [{ said: v }] } }] })],
  ["a member of a transcript", "transcript", (v) => ({ text: "Hello", segments: [{ text: "Hello", speaker: v }], note: v })],
  ["a member of a picture", "pictures", (v) => ({ data: [{ b64_json: "AAAA", note: v }], note: v })],
];

describe("a value in a whole answer", () => {
  test.each(HIDDEN)("in %s (%s) is redacted, and nothing else is changed", (_name, format, body) => {
    const { text, refusal } = whole(format, body(MAIL), mails("redact"));
    expect(refusal).toBeNull();
    expect(text).toBe(JSON.stringify(body(LEFT)));
  });

  test.each(HIDDEN)("in %s (%s) is blocked, or passes with action warn", (_name, format, body) => {
    expect(whole(format, body(MAIL), mails("block")).refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(whole(format, body(MAIL), mails("warn"))).toMatchObject({ changed: false, refusal: null, text: JSON.stringify(body(MAIL)) });
  });
});

const chunk = (delta: object, more: object = {}) => ({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, ...more }] });
const CUT = ["My card is 41", "11 1111", " 1111 1111", " and", " good."];

/** Streams with text in a member unknown to the format, and the text that a client assembles from it. */
const GROWING: readonly (readonly [format: Format, frames: (pieces: readonly string[]) => object[], piece: (event: any) => unknown])[] = [
  ["chat", (pieces) => pieces.map((analysis) => chunk({ analysis })), (event) => event.choices[0].delta.analysis],
  [
    "chat",
    (pieces) => [...pieces.map((thinking) => chunk({ content: "a ", thinking })), chunk({}, { finish_reason: "stop" })],
    (event) => event.choices[0].delta.thinking,
  ],
  ["completions", (pieces) => pieces.map((thinking) => completion({ text: "a ", thinking })), (event) => event.choices[0].thinking],
  [
    "messages",
    (pieces) => [
      { type: "content_block_start", index: 3, content_block: { type: "note", note: "" } },
      ...pieces.map((note) => ({ type: "content_block_delta", index: 3, delta: { type: "note_delta", note } })),
      { type: "content_block_stop", index: 3 },
      { type: "message_stop" },
    ],
    (event) => event.delta?.note,
  ],
  [
    "responses",
    (pieces) => pieces.map((delta, sequence_number) => ({ type: "response.note.delta", output_index: 0, sequence_number, delta })),
    (event) => event.delta,
  ],
  ["gemini", (pieces) => pieces.map((note) => generated({ note })), (event) => event.candidates[0].content.parts[0]?.note],
];

describe("text streamed in an unknown member", () => {
  test.each(GROWING)("is redacted although it is split over frames (%s)", (format, frames, piece) => {
    const { events, text, refusal } = through(format, frames(CUT), mails("redact"));
    expect(refusal).toBeNull();
    expect(events.map((event) => piece(event) ?? "").join("")).toBe("My card is [REDACTED:credit_card] and good.");
    expect(text).not.toMatch(/41"|11 1111/);
  });

  test.each(GROWING)("is blocked before any of the value is sent (%s)", (format, frames) => {
    const { text, refusal } = through(format, frames(CUT), mails("block"));
    expect(refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(text).not.toMatch(/41"|11 1111/);
  });

  test.each(GROWING)("is sent in full when nothing is found (%s)", (format, frames, piece) => {
    const { events } = through(format, frames(["One ", "and tw", "o", "."]), mails("redact"));
    expect(events.map((event) => piece(event) ?? "").join("")).toBe("One and two.");
  });
});

describe("a member beside the deltas of a stream", () => {
  test.each([
    ["chat", { ...chunk({ content: "Hello " }), note: MAIL }],
    ["chat", chunk({ content: "Hello ", sources: [{ deep: MAIL }] })],
    ["chat", chunk({ content: "Hello ", tool_calls: [{ index: 0, note: MAIL, function: { name: "f", arguments: "{}" } }] })],
    ["chat", { choices: [], usage: { note: MAIL } }],
    ["responses", { type: "response.note", note: { said: [MAIL] } }],
    ["responses", { type: "response.failed", response: { error: { message: MAIL } } }],
    ["responses", { type: "error", message: MAIL }],
    ["messages", { type: "message_start", message: { content: [], note: MAIL } }],
    ["messages", { type: "message_delta", delta: { stop_reason: "refusal", stop_details: { explanation: MAIL } } }],
    ["messages", { type: "error", error: { type: "api_error", message: MAIL } }],
    ["gemini", { promptFeedback: { note: MAIL } }],
    ["transcript", { type: "transcript.text.segment", text: "Hello", speaker: MAIL }],
  ] as const)("is redacted in place (%s, %#)", (format, frame) => {
    const { events, text, refusal } = through(format, [frame], mails("redact"));
    expect(refusal).toBeNull();
    expect(text).not.toContain(MAIL);
    expect(JSON.stringify(events)).toContain(LEFT);
    expect(through(format, [frame], mails("block")).refusal).toMatchObject({ code: "guardrail_blocked" });
  });

  test("is inspected together with its value in the previous frame", () => {
    const frames = ["The card 4111 1111", " 1111 1111 is", " good."].map((note) => ({ ...chunk({ content: "a " }), x: { note } }));
    expect(through("chat", frames, mails("block")).refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(through("chat", frames, mails("redact")).text).not.toContain("1111 is");
  });

  test("passes unchanged if it repeats in every frame, or is a label, an ID or a signature that changes", () => {
    const frames = ["analysis", "analysis", "final", "final"].map((channel, n) => ({
      id: "gen-1",
      provider: "Groq",
      system_fingerprint: "fp_1",
      region: "eu-west",
      x_groq: { id: "req_1", seconds: "0.25" },
      citations: ["https://example.com/4111111111111111"],
      search_results: [{ title: "A page", url: "https://example.com/4111111111111111", date: "2026-11-28" }],
      choices: [
        {
          index: 0,
          delta: {
            content: " word ",
            channel,
            recipient: "all",
            reasoning_opaque: `${n}4111111111111111==`,
            response_id: "4111111111111111",
            extra_content: { google: { thought_signature: "4111111111111111" } },
          },
          native_finish_reason: "STOP",
        },
      ],
    }));
    const { events, refusal } = through("chat", frames, mails("redact"));
    expect(refusal).toBeNull();
    expect(events.map((event) => event.choices[0].delta.content).join("")).toBe(" word  word  word  word ");
    const without = (all: readonly any[]) =>
      all.map((one) => ({ ...one, choices: [{ ...one.choices[0], delta: { ...one.choices[0].delta, content: "" } }] }));
    expect(without(events.slice(0, frames.length))).toEqual(without(frames));
  });
});

describe("the name of a called tool", () => {
  const KEY = "ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q";
  const call = (name: string) => ({ id: "c", type: "function", function: { name, arguments: "{}" } });
  test.each([
    ["chat", chat({ tool_calls: [call(KEY)] })],
    ["chat", chat({ function_call: { name: KEY, arguments: "{}" } })],
    ["responses", response({ type: "function_call", call_id: "c", name: KEY, arguments: "{}" })],
    ["messages", message({ type: "tool_use", id: "t", name: KEY, input: { a: 1 } })],
    ["gemini", generated({ functionCall: { name: KEY, args: {} } })],
  ] as const)("is blocked even with action redact, because the call depends on it (%s)", (format, body) => {
    expect(whole(format, body, mails("block")).refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(whole(format, body, mails("redact")).refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(whole(format, body, mails("warn")).refusal).toBeNull();
  });

  test("is inspected word by word, and as assembled from its pieces", () => {
    const words = () => answerGuardRun({ bannedWords: { action: "block", words: ["titan"] } });
    expect(whole("chat", chat({ tool_calls: [call("ask_titan")] }), words()).refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(whole("chat", chat({ tool_calls: [call("ask_titanium")] }), words()).refusal).toBeNull();
    const pieces = [KEY.slice(0, 20), KEY.slice(20)].map((name) =>
      chunk({ tool_calls: [{ index: 0, function: { name, arguments: "" } }] }),
    );
    const { text, refusal } = through("chat", [...pieces, chunk({}, { finish_reason: "tool_calls" })], mails("block"));
    expect(refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(text).not.toContain(KEY.slice(0, 20));
  });
});

test("an answer nested too deeply to inspect is refused", () => {
  let deep: object = { note: MAIL };
  for (let level = 0; level < 2_000; level++) deep = [deep];
  expect(whole("chat", chat({ deep }), mails("redact")).refusal).toMatchObject({ code: "upstream_invalid_response" });
});

const WIRE = join(import.meta.dir, "../../../wire");
const FIXTURES = (["openai/chat", "completions", "responses", "messages", "gemini"] as const).flatMap((folder) =>
  readdirSync(join(WIRE, folder, "fixtures"))
    .filter((file) => /reply.*\.json$/.test(file))
    .map((file) => [folder === "openai/chat" ? "chat" : folder, join(WIRE, folder, "fixtures", file)] as const),
);

test.each(FIXTURES)("example answers of vendors have no findings (%s, %s)", (format, file) => {
  const run = mails("warn");
  expect(whole(format, JSON.parse(readFileSync(file, "utf8")), run)).toMatchObject({ changed: false, refusal: null });
  expect(run.outcome).toMatchObject({ verdict: null, personal: false });
});
