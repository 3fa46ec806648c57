import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { ANSWER_FORMATS } from "../../../tests/support/formats/answer-formats.ts";
import type { OutputForm } from "../../wire/output-form.ts";
import { previewOf, SentContent, type StoreBodies } from "./content.ts";

const CAP = 64 * 1024;

describe("a stored preview is at most 64 KiB of whole characters:", () => {
  test.each([
    ["ASCII", "a", "a".repeat(CAP)],
    ["two bytes a character", "é", "é".repeat(CAP / 2)],
    ["three bytes a character", "€", "€".repeat(Math.floor(CAP / 3))],
    ["surrogate pairs", "😀", "😀".repeat(CAP / 4)],
  ])("%s", (_name, character, whole) => {
    const long = character.repeat(CAP + 1);
    expect(previewOf(long, "full") === whole).toBe(true);
    expect(previewOf(new TextEncoder().encode(long), "full") === whole).toBe(true);
  });

  test.each(["", "short", "a".repeat(CAP), "é".repeat(CAP / 2)])("a text that fits is kept whole (%#)", (text) => {
    expect(previewOf(text, "full") === text).toBe(true);
  });
});

describe("a secret at the end of a preview is not kept in part:", () => {
  const SECRETS = {
    address: "ada.lovelace@example.co.uk",
    key: `sk-proj-${"k".repeat(40)}`,
    token: `eyJ${"h".repeat(30)}.${"p".repeat(900)}.${"s".repeat(40)}`,
    card: "4111 1111 1111 1111",
  };

  test.each(Object.entries(SECRETS))("%s", (_name, secret) => {
    for (let kept = 4; kept < secret.length; kept += Math.ceil(secret.length / 20)) {
      const text = `${"x ".repeat((CAP - kept) / 2)}${" ".repeat(kept % 2)}${secret} ${"y ".repeat(CAP)}`;
      const sent = new SentContent(true);
      for (let at = 0; at < text.length; at += 1_000) sent.add(new TextEncoder().encode(text.slice(at, at + 1_000)));
      for (const preview of [
        previewOf(text, "redacted"),
        previewOf(new TextEncoder().encode(text), "redacted"),
        sent.close("redacted").preview,
      ]) {
        expect(preview).not.toContain(secret.slice(0, 4));
        expect(preview?.length).toBeLessThanOrEqual(CAP);
        expect(preview?.length).toBeGreaterThan(CAP - secret.length);
      }
    }
  });

  test("a long text without secrets is kept up to the limit", () => {
    expect(previewOf("x ".repeat(CAP), "redacted")?.length).toBe(CAP);
    expect(previewOf(`${"x".repeat(CAP)} ${"y".repeat(100)}`, "redacted") === "x".repeat(CAP)).toBe(true);
  });
});

test("without stored bodies there is no preview", () => {
  expect(previewOf("text", "none")).toBeNull();
});

describe("a streamed answer's preview is redacted as the assembled text:", () => {
  const FRAMES: Record<string, { form: OutputForm; frame: (text: string) => string; others: readonly string[] }> = {
    chat: {
      form: { texts: ANSWER_FORMATS.chat, framing: "events" },
      frame: (content) =>
        `data: ${JSON.stringify({ id: "c", created: 1763712000, choices: [{ index: 0, delta: { content }, logprobs: { content: [{ token: content }] } }] })}\n\n`,
      others: [": ping\n\n", "data: [DONE]\n\n"],
    },
    "chat's tool calls": {
      form: { texts: ANSWER_FORMATS.chat, framing: "events" },
      frame: (text) =>
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: text } }] } }] })}\n\n`,
      others: [],
    },
    responses: {
      form: { texts: ANSWER_FORMATS.responses, framing: "events" },
      frame: (delta) =>
        `event: response.output_text.delta\ndata: ${JSON.stringify({ type: "response.output_text.delta", output_index: 1, content_index: 0, delta })}\n\n`,
      others: [],
    },
    messages: {
      form: { texts: ANSWER_FORMATS.messages, framing: "events" },
      frame: (text) =>
        `event: content_block_delta\ndata: ${JSON.stringify({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })}\n\n`,
      others: ['event: ping\ndata: {"type":"ping"}\n\n'],
    },
    gemini: {
      form: { texts: ANSWER_FORMATS.gemini, framing: "array" },
      frame: (text) => `,\r\n${JSON.stringify({ candidates: [{ index: 0, content: { parts: [{ text }] } }] })}`,
      others: [],
    },
  };
  const stored = (wire: string, form: OutputForm, mode: StoreBodies = "redacted"): string => {
    const sent = new SentContent(true);
    for (let at = 0; at < wire.length; at += 700) sent.add(new TextEncoder().encode(wire.slice(at, at + 700)));
    return sent.close(mode, form).preview ?? "";
  };
  const written = (name: string, texts: readonly string[]): string => {
    const { frame, others } = FRAMES[name] as (typeof FRAMES)[string];
    const wire = texts.map(frame).join("") + others.join("");
    return name === "gemini" ? `[${wire.slice(3)}]` : wire;
  };
  const secretPieces = [
    "Write to ada.",
    "lovelace",
    "@exam",
    "ple.co.uk or pay ",
    "4111 1111",
    " 1111 ",
    "1111",
    " with sk-proj-abcdef",
    "ghijklmnopqrstuvwx",
    ".",
  ];

  test.each(Object.keys(FRAMES))("%s", (name) => {
    const { form } = FRAMES[name] as (typeof FRAMES)[string];
    const preview = stored(written(name, secretPieces), form);
    for (const part of ["ada", "lovelace", "ple.co", "4111", "1111", "sk-proj", "ghijk"]) expect(preview).not.toContain(part);
    for (const word of ["[email]", "[number]", "[secret]", "Write to ", " or pay "]) expect(preview).toContain(word);
    expect(stored(written(name, secretPieces), form, "full")).toBe(written(name, secretPieces));
    const inLines = secretPieces.map((piece) => piece.replace(/ (?=4111|with|sk)/, "\n").replace("Write to ", "Write to:\n"));
    const ofLines = stored(written(name, inLines), form);
    for (const part of ["ada", "lovelace", "ple.co", "4111", "1111", "sk-proj", "ghijk"]) expect(ofLines).not.toContain(part);
    const plain = written(name, ["Nothing ", "of ", "interest: 12", "34."]);
    expect(stored(plain, form)).toBe(plain);
  });

  test("also at the end of the preview and after the last whole frame", () => {
    const { form, frame } = FRAMES.messages as (typeof FRAMES)[string];
    const before = Math.floor((CAP - 300) / frame("word ").length);
    const wire = [...Array.from({ length: before }, () => "word "), ...secretPieces, ...Array.from({ length: 100 }, () => "word ")]
      .map(frame)
      .join("");
    const preview = stored(wire, form);
    for (const part of ["ada", "lovelace", "ple.co", "4111"]) expect(preview).not.toContain(part);
    expect(preview.length).toBeGreaterThan(CAP - 5_000);
    expect(stored(`${written("messages", secretPieces)}event: content_block_delta\ndata: {"type":"torn`, form)).toEndWith('{"type":"torn');
  });

  test("with two choices as separate texts", () => {
    const { form } = FRAMES.chat as (typeof FRAMES)[string];
    const wire = [
      [0, "ada@exam"],
      [1, "nobody "],
      [0, "ple.com "],
      [1, "here"],
    ]
      .map(([index, content]) => `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`)
      .join("");
    expect(stored(wire, form)).not.toContain("ple.com");
    expect(stored(wire, form)).toContain("nobody ");
  });
});

describe("a streamed answer gets the hash and size of the whole:", () => {
  test.each([
    ["empty", 0, true],
    ["shorter than its preview", 20, true],
    ["longer than its preview", 400, true],
    ["without a preview", 400, false],
  ])("%s", (_name, count, keepsHead) => {
    const pieces = Array.from({ length: count }, (_, at) => Buffer.from(`${at} `.repeat(100)));
    const sent = new SentContent(keepsHead);
    for (const piece of pieces) sent.add(piece);
    const beside = Buffer.from(": keep-alive\n");
    sent.addBeside(beside);
    expect(sent.last).toBe(pieces.at(-1) ?? null);
    const whole = Buffer.concat([...pieces, beside]);
    expect(sent.bytes).toBe(whole.byteLength);
    expect(sent.close("none").hash).toBe(createHash("sha256").update(whole).digest("hex"));
  });
});
