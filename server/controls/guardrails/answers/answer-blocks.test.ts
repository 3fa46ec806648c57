import { describe, expect, test } from "bun:test";
import { runToEnd } from "../../../kernel/scheduling/in-turns.ts";
import { cpuMs, fixedWorkMs } from "../../../../tests/support/processes/cpu-time.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { EventFraming } from "../../../road/output/frames.ts";
import { answerGuardRun } from "../../../../tests/support/formats/answer-guard-run.ts";
import { AnswerGuard } from "./answer-guard.ts";
import type { GuardRun } from "../guard-run.ts";

const CARD = ["The card 4111 1111 ", "1111 1111 is", " valid."];

const redacting = () => answerGuardRun({ pii: { action: "redact" }, bannedWords: { action: "redact", words: ["swordfish", "card"] } });
const cards = (action: "redact" | "block") => answerGuardRun({ pii: { action, categories: ["credit_card"] } });

const message = (texts: readonly string[]) => ({ type: "message", content: texts.map((text) => ({ type: "text", text })) });
const response = (texts: readonly string[]) => ({
  object: "response",
  output: texts.map((text) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] })),
});

const messageEvents = (texts: readonly string[]) => [
  { type: "message_start", message: { content: [] } },
  ...texts.flatMap((text, index) => [
    { type: "content_block_start", index, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index, delta: { type: "text_delta", text } },
    { type: "content_block_stop", index },
  ]),
  { type: "message_stop" },
];
const responseEvents = (texts: readonly string[]) => [
  ...texts.flatMap((text, output_index) => [
    { type: "response.output_text.delta", output_index, content_index: 0, delta: text },
    { type: "response.output_text.done", output_index, content_index: 0, text },
    { type: "response.output_item.done", output_index, item: response([text]).output[0] },
  ]),
  { type: "response.completed", response: response(texts) },
];

function through(format: keyof typeof ANSWER_FORMATS, frames: readonly unknown[], run: GuardRun) {
  const guard = new AnswerGuard(ANSWER_FORMATS[format], run);
  const framing = new EventFraming();
  const out: Uint8Array[] = [];
  for (const frame of frames)
    for (const passed of framing.push(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`)))
      for (const given of runToEnd(guard.frames([passed]))) out.push(framing.write(given));
  for (const given of runToEnd(guard.end())) out.push(framing.write(given));
  const events = new TextDecoder()
    .decode(concat(out))
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => JSON.parse(frame.slice(6)));
  return { events, refusal: guard.refusal };
}

const textsOf = (body: ReturnType<typeof response>) => body.output.map(({ content }) => content[0]?.text ?? "").join("");

describe("a value split over several blocks of text", () => {
  test("is found in a whole message and in a whole response", () => {
    const said = message(CARD);
    expect(runToEnd(new AnswerGuard(ANSWER_FORMATS.messages, cards("redact")).whole(said as unknown as JsonObject))).toBe(true);
    expect(said.content.map(({ text }) => text).join("")).not.toContain("1111 1111 is");
    const answered = response(CARD);
    runToEnd(new AnswerGuard(ANSWER_FORMATS.responses, cards("redact")).whole(answered as unknown as JsonObject));
    expect(textsOf(answered)).not.toContain("1111 1111 is");
    for (const [format, body] of [
      ["messages", message(CARD)],
      ["responses", response(CARD)],
    ] as const) {
      const guard = new AnswerGuard(ANSWER_FORMATS[format], cards("block"));
      runToEnd(guard.whole(body as unknown as JsonObject));
      expect(guard.refusal).toMatchObject({ code: "guardrail_blocked" });
    }
  });

  test("is found in streams, also in events that repeat the text", () => {
    const { events } = through("messages", messageEvents(CARD), cards("redact"));
    expect(events.map((event) => event.delta?.text ?? "").join("")).not.toContain("1111 1111 is");
    const responses = through("responses", responseEvents(CARD), cards("redact"));
    expect(JSON.stringify(responses.events)).not.toContain("1111 1111 is");
    expect(JSON.stringify(responses.events.at(-1))).toContain("[REDACTED:credit_card] is");
    expect(through("messages", messageEvents(CARD), cards("block")).refusal).toMatchObject({ code: "guardrail_blocked" });
    expect(through("responses", responseEvents(CARD), cards("block")).refusal).toMatchObject({ code: "guardrail_blocked" });
  });

  test("is found where a block starts before the previous one has ended", () => {
    const begun = CARD.flatMap((text, index) => [
      { type: "content_block_start", index, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index, delta: { type: "text_delta", text } },
    ]);
    const ended = CARD.map((_, index) => ({ type: "content_block_stop", index }));
    const overlapping = [{ type: "message_start", message: { content: [] } }, ...begun, ...ended, { type: "message_stop" }];
    const said = (events: readonly { index?: number; delta?: { text?: string } }[]) =>
      CARD.map((_, at) => events.map(({ index, delta }) => (index === at ? (delta?.text ?? "") : "")).join("")).join("");
    expect(said(through("messages", overlapping, cards("redact")).events)).toBe("The card 4111 1111 [REDACTED:credit_card] is valid.");
    expect(through("messages", overlapping, cards("block")).refusal).toMatchObject({ code: "guardrail_blocked" });
    const parts = [
      ...CARD.map((delta, output_index) => ({ type: "response.output_text.delta", output_index, content_index: 0, delta })),
      { type: "response.completed", response: response(CARD) },
    ];
    const { events } = through("responses", parts, cards("redact"));
    expect(JSON.stringify(events)).not.toContain("1111 1111 is");
    expect(JSON.stringify(events.at(-1))).toContain("[REDACTED:credit_card] is");
  });

  test("is found, while a word that was already inspected is not redacted twice", () => {
    const run = redacting();
    const { events } = through("messages", messageEvents(["My card, a sword", "fish and", " no discard"]), run);
    expect(events.map((event) => event.delta?.text ?? "").join("")).toBe(
      "My [REDACTED:banned_word], a sword[REDACTED:banned_word] and no discard",
    );
  });
});

test("inspection takes time linear in the number of blocks", () => {
  const blocks = Array.from({ length: 10_000 }, () => "a@");
  const said = message(blocks);
  const started = cpuMs();
  runToEnd(new AnswerGuard(ANSWER_FORMATS.messages, cards("redact")).whole(said as unknown as JsonObject));
  runToEnd(new AnswerGuard(ANSWER_FORMATS.responses, cards("redact")).whole(response(blocks) as unknown as JsonObject));
  expect(cpuMs(started)).toBeLessThan(16 * fixedWorkMs());
  expect(said).toEqual(message(blocks));
});

test("blocks without findings stay unchanged", () => {
  const texts = ["One ends with 4111 ", "and two begins so,", " with joe@", " nobody."];
  const said = message(texts);
  runToEnd(new AnswerGuard(ANSWER_FORMATS.messages, redacting()).whole(said as unknown as JsonObject));
  expect(said).toEqual(message(texts));
  const answered = response(texts);
  runToEnd(new AnswerGuard(ANSWER_FORMATS.responses, redacting()).whole(answered as unknown as JsonObject));
  expect(answered).toEqual(response(texts));
  const { events } = through("messages", messageEvents(texts), redacting());
  const blocks = texts.map((_, index) => events.map((event) => (event.index === index ? (event.delta?.text ?? "") : "")).join(""));
  expect(blocks).toEqual(texts);
});
