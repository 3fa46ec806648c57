import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ANSWER_SURFACES, type AnswerSurface, cutAnew, type StreamedToolCall } from "../../../../tests/support/formats/answer-streams.ts";
import { LONG_TEST_MS } from "../../../../tests/support/patience.ts";
import { concat } from "../../../wire/streams/adjoining-bytes.ts";
import { CompletionsStream } from "../../../wire/completions/completions-stream.ts";
import { GeminiArrayStream, GeminiStream } from "../../../wire/gemini/gemini-stream.ts";
import { MessagesStream } from "../../../wire/messages/messages-stream.ts";
import { ChatStream } from "../../../wire/openai/chat/stream.ts";
import { ResponsesStream } from "../../../wire/responses/responses-stream.ts";
import type { StreamCodec } from "../../../wire/streams/stream.ts";
import { GuardRun } from "../guard-run.ts";
import type { SurfaceGuard } from "../surface-guard.ts";
import { redactText } from "../redact.ts";
import type { GuardSettings } from "../text-guard.ts";
import { AnswerGuard } from "./answer-guard.ts";
import { ANSWER_FORMATS } from "../../../../tests/support/formats/answer-formats.ts";
import { answerGuardOf } from "../../../../tests/support/formats/answer-guard-run.ts";
import { GuardedStream } from "./guarded-stream.ts";
import { runToEnd } from "../../../kernel/scheduling/in-turns.ts";

const CODECS: Readonly<Record<AnswerSurface["name"], () => StreamCodec>> = {
  chat: () => new ChatStream({ hideUsage: false }),
  completions: () => new CompletionsStream({ hideUsage: false }),
  responses: () => new ResponsesStream(),
  messages: () => new MessagesStream(),
  "gemini events": () => new GeminiStream(),
  "gemini array": () => new GeminiArrayStream(),
};

function streamed(surface: AnswerSurface, guard: SurfaceGuard, frames: readonly Uint8Array[], most: number, seed: number) {
  const run = new GuardRun(guard);
  const codec = new GuardedStream(CODECS[surface.name](), new AnswerGuard(ANSWER_FORMATS[surface.format], run), surface.framing);
  const out: Uint8Array[] = [];
  for (const piece of cutAnew(frames, most, seed)) {
    const passed = codec.push(piece);
    if (passed !== null) out.push(passed);
    if (codec.refusal !== null) return { bytes: concat(out), refusal: codec.refusal, run };
  }
  const { complete, last } = codec.end();
  if (last !== null) out.push(last);
  expect(complete).toBe(true);
  return { bytes: concat(out), refusal: codec.refusal, run };
}

const REDACT: GuardSettings = {
  pii: { action: "redact" },
  secrets: { action: "redact" },
  bannedWords: { action: "redact", words: ["titan", "project blue heron"] },
  bannedPatterns: { action: "redact", patterns: ["\\bEMP-\\d{4,6}\\b"] },
};
const VALUES = [
  "joe@example.com",
  "4539 1488 0343 6467",
  "536-22-8145",
  "GB29 NWBK 6016 1331 9268 19",
  "+44 20 7946 0958",
  "AKIAQ3EGRTNKVB2LMPZ4",
  "ghp_k3XbWq9LmZ7vTn2RcYd5HfPs8JgA1uEoGi4Q",
  "project blue heron",
  "EMP-20417",
];
const GLUE = [" ", "\n", ". ", " and ", "x", '"', "\\", "👋", "\ud83d", "é", "12 ", "call ", "<", "{", "eyJ"];

const text = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...GLUE) },
      { weight: 2, arbitrary: fc.constantFrom(...VALUES) },
      { weight: 1, arbitrary: fc.constantFrom(...VALUES).chain((value) => fc.nat(value.length).map((cut) => value.slice(0, cut))) },
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join("").toWellFormed());

function pieces(whole: string, most: number, seed: number): string[] {
  const out: string[] = [];
  let state = seed | 1;
  for (let at = 0; at < whole.length;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const size = 1 + ((state >> 8) % most);
    out.push(whole.slice(at, at + size));
    at += size;
  }
  return out;
}

/** CHUNKINGS=100000 runs a full proof; this many keep the suite short. */
const RUNS = Number(process.env["CHUNKINGS"] ?? 6_000) / ANSWER_SURFACES.length;

describe.each(ANSWER_SURFACES.map((surface) => [surface.name, surface] as const))("%s", (_name, surface) => {
  const guard = answerGuardOf(REDACT);
  const takesCalls = surface.name !== "completions";

  test(
    "a stream has the same redacted text as the whole answer, however it is cut, and leaks nothing",
    () => {
      fc.assert(
        fc.property(
          text,
          fc.option(text, { nil: null }),
          fc.integer({ min: 1, max: 12 }),
          fc.constantFrom(1, 7, 60, 4000),
          fc.nat(),
          (said, argument, most, cut, seed) => {
            const call: StreamedToolCall | undefined =
              argument === null || !takesCalls
                ? undefined
                : { name: "note", pieces: pieces(JSON.stringify({ to: argument, n: 1 }), most, seed) };
            const { bytes, refusal } = streamed(surface, guard, surface.frames(pieces(said, most, seed), call), cut, seed);
            expect(refusal).toBeNull();
            const read = surface.read(bytes);
            expect(read.text).toBe(redactText(guard.guard, said).text);
            expect(read.calls.map(({ name, arguments: args }) => ({ name, args: JSON.parse(args) }))).toEqual(
              call === undefined || argument === null ? [] : [{ name: "note", args: { to: redactText(guard.guard, argument).text, n: 1 } }],
            );
            // Guarding the whole answer gives the same text.
            const body = surface.whole(said, call);
            runToEnd(new AnswerGuard(ANSWER_FORMATS[surface.format], new GuardRun(guard)).whole(body as never));
            const whole = surface.readWhole(body);
            expect(whole.text).toBe(read.text);
            expect(whole.calls.map((made) => JSON.parse(made.arguments))).toEqual(read.calls.map((made) => JSON.parse(made.arguments)));
          },
        ),
        { numRuns: Math.ceil(RUNS) },
      );
    },
    LONG_TEST_MS,
  );

  test("a stream with nothing to redact passes byte for byte", () => {
    const frames = surface.frames(
      ["The ", "meeting ", "is at noon. "],
      takesCalls ? { name: "note", pieces: ['{"to":', '"Oslo"}'] } : undefined,
    );
    // Without tenant patterns: those could match anything, so as much text is held as their longest match could have.
    const plain = answerGuardOf({ pii: REDACT.pii!, secrets: REDACT.secrets!, bannedWords: REDACT.bannedWords! });
    expect(Buffer.from(streamed(surface, plain, frames, 4000, 1).bytes).toString()).toBe(Buffer.from(concat(frames)).toString());
  });

  test("a blocked stream contains nothing of the value and nothing after it", () => {
    const blocking = answerGuardOf({ pii: { action: "block" } });
    for (const most of [1, 3, 400]) {
      const said = "Write to joe@example.com about it.";
      const { bytes, refusal, run } = streamed(surface, blocking, surface.frames(pieces(said, most, 3)), 50, 5);
      expect(refusal?.extra).toEqual({ guardrail: null, check: "pii", direction: "output" });
      expect(Buffer.from(bytes).toString()).not.toContain("joe");
      expect(Buffer.from(bytes).toString()).not.toContain("about");
      expect(run.blocked?.check).toBe("pii");
    }
    if (!takesCalls) return;
    const call = { name: "note", pieces: ['{"to":"joe@', 'example.com"}'] };
    const { bytes, refusal } = streamed(surface, blocking, surface.frames(["Well. "], call), 50, 5);
    expect(refusal?.code).toBe("guardrail_blocked");
    expect(Buffer.from(bytes).toString()).not.toContain("note");
  });
});

test("a redacted frame keeps all digits of a tool call's numbers", () => {
  const surface = ANSWER_SURFACES.find(({ name }) => name === "gemini events") as AnswerSurface;
  const frame = (parts: string) =>
    new TextEncoder().encode(`data: {"candidates":[{"content":{"role":"model","parts":[${parts}]},"finishReason":"STOP"}]}\n\n`);
  const { bytes } = streamed(
    surface,
    answerGuardOf({ pii: { action: "redact" } }),
    [frame('{"functionCall":{"name":"mail","args":{"id":1234567890123456789,"to":"joe@example.com"}}}')],
    4_096,
    1,
  );
  const said = new TextDecoder().decode(bytes);
  expect(said).toContain('"id":1234567890123456789');
  expect(said).toContain("[REDACTED:email]");
});

test("a provider's error within a stream is redacted as well", () => {
  const guard = new AnswerGuard(ANSWER_FORMATS.chat, new GuardRun(answerGuardOf(REDACT)));
  const codec = new GuardedStream(CODECS.chat(), guard, "events");
  const frames = [
    { choices: [{ index: 0, delta: { content: "Hi" } }] },
    { error: { message: "stopped at joe@example.com by policy", code: "stopped" } },
  ];
  for (const frame of frames) codec.push(new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`));
  expect(codec.end().complete).toBe(false);
  expect(codec.providerError).toBe("stopped at [REDACTED:email] by policy");
});

test.each(["chat", "messages"] as const)("an event's name is inspected, also in lower case (%s)", (format) => {
  const settings = { bannedWords: { action: "block", words: ["titan"] } } as const;
  const named = (name: string, type: string) => {
    const guard = new AnswerGuard(ANSWER_FORMATS[format], new GuardRun(answerGuardOf(settings)));
    const codec = new GuardedStream(CODECS[format](), guard, "events");
    const body =
      format === "chat" ? { choices: [{ index: 0, delta: { content: "Hi" } }] } : { index: 0, delta: { type: "text_delta", text: "Hi" } };
    codec.push(new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify({ ...body, type })}\n\n`));
    codec.end();
    return codec.refusal?.code;
  };
  expect(named("titan", "content_block_delta")).toBe("guardrail_blocked");
  expect(named("content_block_delta", "content_block_delta")).toBeUndefined();
});
