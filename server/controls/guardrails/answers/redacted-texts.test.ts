import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../kernel/json-value.ts";
import { runToEnd } from "../../../kernel/scheduling/in-turns.ts";
import { EventFraming } from "../../../road/output/frames.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { answerGuardRun } from "../../../../tests/support/formats/answer-guard-run.ts";
import { CITED, type Cited, citedAnswer, citedStream, PAGE_URL } from "../../../../tests/support/vendors/cited-answers.ts";
import { AnswerGuard } from "./answer-guard.ts";

/** Positions of cited passages follow the text in which values were redacted; what is cited is inspected as well. */
const MAIL = "joe@example.com";
const LEFT = "[REDACTED:email]";
const MAILS: Cited = {
  before: `🏔 Grüezi ${MAIL}, `,
  passage: `Zürich (${MAIL}) lies on a lake.`,
  after: ` It is déep, says ${MAIL}`,
  title: `Lakes by ${MAIL}`,
  quote: `${MAIL} is at the lake.`,
};
const redacted = (text: string) => text.replaceAll(MAIL, LEFT);
const REDACTED: Cited = {
  before: redacted(MAILS.before),
  passage: redacted(MAILS.passage),
  after: redacted(MAILS.after),
  title: redacted(MAILS.title),
  quote: redacted(MAILS.quote),
};
type Format = keyof typeof ANSWER_FORMATS;
const FORMATS = ["chat", "responses", "messages", "gemini"] as const satisfies readonly Format[];

function whole(format: Format, body: object): { body: any; changed: boolean } {
  const guarded = structuredClone(body) as JsonObject;
  const guard = new AnswerGuard(ANSWER_FORMATS[format], answerGuardRun({ pii: { action: "redact" } }));
  const changed = runToEnd(guard.whole(guarded));
  expect(guard.refusal).toBeNull();
  return { body: guarded, changed };
}

function streamed(format: Format, bytes: Uint8Array): { text: string; events: any[] } {
  const guard = new AnswerGuard(ANSWER_FORMATS[format], answerGuardRun({ pii: { action: "redact" } }));
  const framing = new EventFraming();
  const out: Uint8Array[] = [];
  for (const frame of framing.push(bytes)) for (const sent of runToEnd(guard.frames([frame]))) out.push(framing.write(sent));
  for (const sent of runToEnd(guard.end())) out.push(framing.write(sent));
  expect(guard.refusal).toBeNull();
  const text = new TextDecoder().decode(concat(out));
  const data = text.split("\n").filter((line) => line.startsWith("data: {"));
  return { text, events: data.map((line) => JSON.parse(line.slice(6))) };
}

const members = (value: any, name: string): any[] =>
  typeof value !== "object" || value === null
    ? []
    : [...(value[name] === undefined ? [] : [value[name]]), ...Object.values(value).flatMap((inner) => members(inner, name))];

describe("a whole answer with citations", () => {
  test.each(FORMATS)("has its passages, quotes and titles as if the redacted text had been cited (%s)", (format) => {
    expect(whole(format, citedAnswer(format, MAILS)).body).toEqual(citedAnswer(format, REDACTED));
  });

  test.each(FORMATS)("is unchanged if nothing is found (%s)", (format) => {
    expect(whole(format, citedAnswer(format)).body).toEqual(citedAnswer(format));
  });
});

describe("a stream with citations", () => {
  test.each(FORMATS)("keeps its citations if nothing is found (%s)", (format) => {
    const bytes = citedStream(format);
    const { text, events } = streamed(format, bytes);
    for (const name of ["annotations", "annotation", "citation", "groundingMetadata"])
      for (const cited of members(events, name)) expect(new TextDecoder().decode(bytes)).toContain(JSON.stringify(cited));
    expect(text).toContain(CITED.title);
  });

  test.each(FORMATS)("has what is cited redacted in every event (%s)", (format) => {
    const { text } = streamed(format, citedStream(format, MAILS));
    expect(text).not.toContain(MAIL);
    expect(text).not.toMatch(/joe@|example\.com/);
    expect(text).toContain(REDACTED.title);
    if (format === "messages") expect(text).toContain(REDACTED.quote);
  });

  test("of a chat completion has the positions of the redacted text", () => {
    const { events } = streamed("chat", citedStream("chat", MAILS));
    const content = members(events, "content").join("");
    expect(content).toBe(REDACTED.before + REDACTED.passage + REDACTED.after);
    const [{ start_index, end_index, url }] = members(events, "url_citation");
    expect([...content].slice(start_index, end_index).join("")).toBe(REDACTED.passage);
    expect(url).toBe(PAGE_URL);
  });

  test("of a response has the positions of the redacted text, in its own event and in all that repeat it", () => {
    const { events } = streamed("responses", citedStream("responses", MAILS));
    const annotations = [...members(events, "annotation"), ...members(events, "annotations").flat()];
    expect(annotations).toHaveLength(4);
    for (const { start_index, end_index } of annotations)
      expect([...(REDACTED.before + REDACTED.passage + REDACTED.after)].slice(start_index, end_index).join("")).toBe(REDACTED.passage);
  });

  test("is cited at its very end before it is known to have ended", () => {
    const passage = `It lies on a lake, says ${MAIL}.`;
    const { events } = streamed("chat", citedStream("chat", { ...MAILS, passage, after: "" }));
    const [{ start_index, end_index }] = members(events, "url_citation");
    expect([...members(events, "content").join("")].slice(start_index, end_index).join("")).toBe(redacted(passage));
  });

  test("of Gemini has the positions of the redacted text", () => {
    const { events } = streamed("gemini", citedStream("gemini", MAILS));
    const [segment] = members(events, "segment");
    const [expected] = members(citedAnswer("gemini", REDACTED), "segment");
    expect(segment).toEqual(expected);
  });
});

describe("positions in redacted text", () => {
  const annotated = (content: string, start: number, end: number) => ({
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content,
          annotations: [{ type: "url_citation", url_citation: { start_index: start, end_index: end, title: "T", url: PAGE_URL } }],
        },
      },
    ],
  });
  const positionsOf = (body: object) => {
    const [{ start_index, end_index }] = members(whole("chat", body).body, "url_citation");
    return [start_index, end_index];
  };

  const grounding = (texts: readonly string[], segment: object) => ({
    candidates: [
      {
        content: { role: "model", parts: texts.map((text) => ({ text })) },
        groundingMetadata: {
          groundingChunks: [{ web: { uri: PAGE_URL, title: "T" } }],
          groundingSupports: [{ segment, groundingChunkIndices: [0] }],
        },
        finishReason: "STOP",
      },
    ],
  });

  test("within a value become the ends of its placeholder", () => {
    expect(positionsOf(annotated(`A ${MAIL} b`, 4, 10))).toEqual([2, 2 + LEFT.length]);
  });

  test("at the ends of a value stay at its ends", () => {
    expect(positionsOf(annotated(`A ${MAIL} b`, 0, 2))).toEqual([0, 2]);
    expect(positionsOf(annotated(`A ${MAIL} b`, 2 + MAIL.length, 4 + MAIL.length))).toEqual([2 + LEFT.length, 4 + LEFT.length]);
  });

  test("beyond the text are left as they are", () => {
    expect(positionsOf(annotated(`A ${MAIL} b`, 400, 500))).toEqual([400, 500]);
  });

  test("count in the part that a segment names", () => {
    const body = citedAnswer("gemini", MAILS);
    const [candidate] = body.candidates;
    candidate.content.parts.unshift({ text: `First ${MAIL}. And so on` });
    candidate.groundingMetadata.groundingSupports[0].segment.partIndex = 1;
    const guarded = whole("gemini", body).body.candidates[0];
    const { startIndex, endIndex, partIndex, text } = guarded.groundingMetadata.groundingSupports[0].segment;
    const part = Buffer.from(guarded.content.parts[partIndex].text);
    expect(part.subarray(startIndex, endIndex).toString()).toBe(REDACTED.passage);
    expect(text).toBe(REDACTED.passage);
  });

  test("count in parts whose values cross from one into the next", () => {
    const body = grounding([`First joe@exa`, `mple.com, and Zürich.`], { partIndex: 1, startIndex: 14, endIndex: 22, text: "Zürich." });
    const { content, groundingMetadata } = whole("gemini", body).body.candidates[0];
    expect(content.parts).toEqual([{ text: `First ${LEFT}` }, { text: ", and Zürich." }]);
    expect(groundingMetadata.groundingSupports[0].segment).toEqual({ partIndex: 1, startIndex: 6, endIndex: 14, text: "Zürich." });
  });

  test("in later parts of a response count from the start of their own part", () => {
    const body = citedAnswer("responses", MAILS);
    const expected = citedAnswer("responses", REDACTED);
    for (const [answer, text] of [[body, `First, write to ${MAIL}.`] as const, [expected, `First, write to ${LEFT}.`] as const])
      answer.output.unshift({ type: "message", id: "msg_0", role: "assistant", content: [{ type: "output_text", text, annotations: [] }] });
    expect(whole("responses", body).body).toEqual(expected);
  });
});
