import { describe, expect, test } from "bun:test";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { NOTHING_SENT } from "../../../wire/sent-settings.ts";
import { openaiTraits } from "../../../upstreams/providers/openai/traits.ts";
import { readCompletionsReply } from "../../../wire/completions/completions-reply.ts";
import { readGeminiReply } from "../../../wire/gemini/gemini-reply.ts";
import { readMessagesReply } from "../../../wire/messages/messages-reply.ts";
import { readChatReply } from "../../../wire/openai/chat/reply.ts";
import { ChatStream } from "../../../wire/openai/chat/stream.ts";
import { readResponsesReply } from "../../../wire/responses/responses-reply.ts";
import type { Call } from "../../../road/call.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { attempt, type AttemptParts } from "./attempt.ts";
import { streamUsage } from "../../../road/metering/stream-usage.ts";

const INPUT_CHARACTERS = 40;
const NO_TOKENS = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** Makes an attempt at a provider that gives this response. */
function ask(response: Response, stream: boolean, readReply: typeof readChatReply = readChatReply, holdHead = false) {
  const call = { row: {}, abort: new AbortController() } as unknown as Call;
  const model = { modelName: "m", provider: { apiFormat: "openai" } } as ModelEntry;
  const prepared = {
    operation: "chat",
    body: "{}",
    sent: NOTHING_SENT,
    stream,
    headers: {},
    streamCodec: () => new ChatStream({ hideUsage: true }),
    streamType: null,
    whole(body: Uint8Array) {
      const read = readReply(body);
      return read === null ? null : { body, ...read };
    },
    refusal: () => null,
    dropped: [],
  } as const;
  const parts = {
    providers: { openai: { traits: openaiTraits, url: () => "", send: () => Promise.resolve({ response, requestId: null }) } },
    clock: { now: () => 0 },
  } as unknown as AttemptParts;
  return attempt(
    call,
    {
      model,
      prepared,
      abort: new AbortController(),
      timeoutMs: 1_000,
      holdHead,
      watchesRefusals: false,
      inputCharacters: INPUT_CHARACTERS,
    },
    parts,
  );
}

describe("a failed attempt records the provider's status:", () => {
  test.each([
    ["a failure", Response.json({}, { status: 500 }), 500],
    ["a refused account", Response.json({}, { status: 401 }), 401],
    ["a refused request", Response.json({}, { status: 400 }), 400],
    ["an answer that is not JSON", new Response("<html>"), 200],
    ["an answer that broke off", new Response(new ReadableStream({ start: (body) => body.error(new Error("reset")) })), 200],
  ])("%s", async (_name, response, status) => {
    expect(await ask(response, false)).toMatchObject({ status });
  });
});

describe("an implausible token count is replaced by an estimate:", () => {
  const usage = (prompt: number, completion: number) => ({ prompt_tokens: prompt, completion_tokens: completion });
  const reported = { inputUncached: 999_999_999, output: 1, estimated: false };
  const counted = { inputUncached: 10, output: 1, estimated: true };

  test.each([
    [usage(999_999_999, 1), reported],
    [usage(1_000_000_000, 1), counted],
    [usage(1, 5e18), counted],
    [usage(1e300, 1), counted],
    // Servers that do not count report zeros; next to an answer, zero is not a count.
    [usage(0, 0), counted],
    [usage(0, 7), { inputUncached: 10, output: 7, estimated: true }],
    [usage(7, 0), { inputUncached: 7, output: 1, estimated: true }],
  ])("in a whole answer: %p", async (said, expected) => {
    const result = await ask(
      Response.json({ choices: [{ index: 0, message: { role: "assistant", content: "four" } }], usage: said }),
      false,
    );
    expect("answer" in result && result.answer.kind === "whole" ? result.answer.usage : null).toMatchObject(expected);
  });

  test.each([
    [usage(999_999_999, 1), reported],
    [usage(5e18, 1), counted],
    [usage(0, 0), counted],
  ])("in a stream: %p", async (said, expected) => {
    const frames = [{ choices: [{ index: 0, delta: { content: "four" }, finish_reason: "stop" }] }, { choices: [], usage: said }].map(
      (frame) => `data: ${JSON.stringify(frame)}\n\n`,
    );
    const result = await ask(new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } }), true);
    if (!("answer" in result) || result.answer.kind !== "stream") throw new Error("not a stream");
    const { upstream, codec } = result.answer;
    for (let next = await upstream.read(); !next.done; next = await upstream.read()) codec.push(next.value);
    codec.end();
    expect(streamUsage(result.answer)).toMatchObject(expected);
  });
});

/** A routing group's stream of 16 MiB that consists of this frame; whether it is given up, and after how many bytes. */
async function streaming(delta: object) {
  const frames = new TextEncoder().encode(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`.repeat(1_000));
  let sent = 0;
  let isLeft = false;
  const long = new ReadableStream<Uint8Array>({
    pull(body) {
      sent += frames.byteLength;
      body.enqueue(frames);
      if (sent > 16 * 1024 * 1024) body.close();
    },
    cancel() {
      isLeft = true;
    },
  });
  const result = await ask(new Response(long, { headers: { "content-type": "text/event-stream" } }), true, readChatReply, true);
  return { result, sent, isLeft };
}

test("a stream whose answer does not begin is abandoned before it fills the memory", async () => {
  const { result, sent, isLeft } = await streaming({});
  expect(result).toMatchObject({ failure: { outcome: "upstream_invalid_response" } });
  expect([isLeft, sent < 9 * 1024 * 1024]).toEqual([true, true]);
});

test("a stream of audio only is passed to the caller from its first frame", async () => {
  const { result, sent, isLeft } = await streaming({ content: null, audio: { id: "audio_1", data: "A".repeat(1_000) } });
  expect(result).toMatchObject({ answer: { kind: "stream", status: 200 } });
  expect([isLeft, sent < 4 * 1024 * 1024]).toEqual([false, true]);
});

describe("a token count of zero is accepted", () => {
  const used = async (said: unknown, readReply: typeof readChatReply = readChatReply) => {
    const result = await ask(Response.json(said), false, readReply);
    return "answer" in result && result.answer.kind === "whole" ? result.answer.usage : null;
  };
  const nothing = { prompt_tokens: 7, completion_tokens: 0 };

  test("for an empty answer", async () => {
    const silent = { choices: [{ index: 0, message: { role: "assistant", content: "" } }], usage: nothing };
    expect(await used(silent)).toMatchObject({ inputUncached: 7, output: 0, estimated: false });
  });

  test("for input that came entirely from the prompt cache", async () => {
    const cached = { content: [{ type: "text", text: "four" }], usage: { input_tokens: 0, cache_read_input_tokens: 9, output_tokens: 1 } };
    expect(await used(cached, readMessagesReply)).toMatchObject({ inputUncached: 0, cacheRead: 9, output: 1, estimated: false });
  });

  test("for a prompt that is echoed to be scored", async () => {
    const scored = { choices: [{ index: 0, text: "the prompt itself" }], usage: nothing };
    const read = (echoed: number) => used(scored, (bytes) => readCompletionsReply(bytes, echoed));
    expect(await read(Number.POSITIVE_INFINITY)).toMatchObject({ output: 0, estimated: false });
    expect(await read("the prompt".length)).toMatchObject({ output: 2, estimated: true });
  });

  test("for operations that are not billed by tokens", async () => {
    const readAudio = (bytes: Uint8Array) => ({ usage: { ...NO_TOKENS, audioSeconds: 3 }, outputCharacters: bytes.length });
    expect(await used({}, readAudio)).toMatchObject({ inputUncached: 0, output: 0, audioSeconds: 3, estimated: false });
  });
});

test("a rejection's error code is recorded in the row, and the caller gets the provider's bytes", async () => {
  const said = { error: { message: "This model's maximum context length is 8192 tokens.", code: "context_length_exceeded" } };
  const result = await ask(Response.json(said, { status: 400 }), false);
  if (!("failure" in result) || isRefusal(result.failure.answer) || result.failure.answer.kind !== "whole") throw new Error("not passed");
  const { failure, body } = result.failure.answer;
  expect(failure).toBe("the provider answered 400: context_length_exceeded");
  expect(JSON.parse(new TextDecoder().decode(body))).toEqual(said);
});

describe.each([
  ["chat", readChatReply],
  ["completions", readCompletionsReply],
  ["responses", readResponsesReply],
  ["messages", readMessagesReply],
  ["gemini", readGeminiReply],
] as const)("a provider's answer in the format %s with a success status", (_format, readReply) => {
  const failure = async (said: unknown) => {
    const result = await ask(Response.json(said), false, readReply);
    if (!("failure" in result) || !isRefusal(result.failure.answer)) throw new Error("not a failure");
    return { again: result.failure.again, code: result.failure.answer.code, reason: result.failure.answer.reason };
  };

  test("counts as a failure if it contains an error", async () => {
    expect(await failure({ error: { message: "No instances available", code: 502 } })).toEqual({
      again: "anywhere",
      code: "upstream_error",
      reason: "No instances available",
    });
    for (const beside of [{}, { choices: [] }])
      expect(await failure({ error: "No instances available", ...beside })).toMatchObject({
        ...{ code: "upstream_error", again: "anywhere", reason: "No instances available" },
      });
  });

  test("is invalid if it is not an object", async () => {
    expect(await failure([])).toMatchObject({ code: "upstream_invalid_response" });
  });

  test.each([{}, { detail: "Not today" }, { choices: null, message: "ok" }, null, "<html>"])(
    "is invalid, and other members are tried, if it has nothing of its format: %j",
    async (said) => {
      expect(await failure(said)).toMatchObject({ again: "anywhere", code: "upstream_invalid_response" });
    },
  );
});
