import { describe, expect, test } from "bun:test";
import { until } from "../../../tests/support/until.ts";
import { type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import type { Call } from "../call.ts";
import { CompletionsStream } from "../../wire/completions/completions-stream.ts";
import { TranslatedStream } from "../../wire/conversation/translated-stream.ts";
import { MessagesStream } from "../../wire/messages/messages-stream.ts";
import { messagesCodec } from "../../wire/messages/messages-codec.ts";
import { chatCodec } from "../../wire/openai/chat/codec.ts";
import { ChatStream } from "../../wire/openai/chat/stream.ts";
import { responsesCodec } from "../../wire/responses/responses-codec.ts";
import { ResponsesStream } from "../../wire/responses/responses-stream.ts";
import { RecordedStream } from "../answers/recorded-stream.ts";
import { bufferAnswer } from "../answers/buffered-answer.ts";
import { withHeldEnd } from "../output/held-end.ts";
import { type StreamEnd, streamOut } from "./stream-out.ts";
import type { StreamAnswer } from "../answer.ts";
import { COMMENT_LINE } from "../../wire/streams/sse-data.ts";
import { PASSED_STREAM } from "../../wire/streams/stream.ts";

const call = { abort: new AbortController() } as Call;
const bytes = new TextEncoder().encode("a held tool call");

/** An upstream that sends `pieces` and then fails. */
function breakingOff(pieces: readonly Uint8Array[]): StreamAnswer["upstream"] {
  const left = [...pieces];
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = left.shift();
      if (piece === undefined) controller.error(new Error("connection reset"));
      else controller.enqueue(piece);
    },
  }).getReader();
}

/** What the caller is sent and how the stream ends if an output control refuses the answer. */
async function endingOf(refusal: Refusal | null): Promise<{ sent: number; end: StreamEnd | undefined }> {
  let seen = false;
  const codec: StreamAnswer["codec"] = {
    push: () => ((seen = true), null),
    end: () => ({ complete: false, last: null, errorReported: false }),
    begun: true,
    usage: null,
    outputLength: 0,
    providerError: null,
  };
  const answer: StreamAnswer = {
    kind: "stream",
    status: 200,
    headers: {},
    upstream: breakingOff([bytes]),
    codec,
    head: [],
    inputCharacters: 0,
    refusal: (ended) => (ended && seen ? refusal : null),
  };
  let end: StreamEnd | undefined;
  let sent = 0;
  const stream = streamOut(call, answer, {
    idleMs: 60_000,
    sent: (piece) => void (sent += piece.byteLength),
    end: async (how) => ((end = how), null),
  });
  for await (const piece of stream) sent += piece.byteLength;
  return { sent, end };
}

test("a denial by policy is kept when the upstream then breaks off", async () => {
  const { sent, end } = await endingOf(refuse("argument_policy_denied"));
  expect([sent, end?.failure?.code]).toEqual([0, "argument_policy_denied"]);
});

test("an upstream that breaks off without a denial is recorded as interrupted", async () => {
  const { end } = await endingOf(null);
  expect(end?.failure).toMatchObject({ code: "upstream_interrupted", reason: "connection reset" });
});

const IDLE_MS = 60_000;

describe("an upstream that has sent its last event", () => {
  const encoder = new TextEncoder();
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }] })}\n\n`;
  const event = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
  const CHAT = `${chunk({ delta: { role: "assistant", content: "four" } })}${chunk({ delta: {}, finish_reason: "stop" })}data: [DONE]\n\n`;
  const COMPLETION = `data: {"choices":[{"index":0,"text":"four","finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  const MESSAGE = [
    { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [] } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "four" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null } },
    { type: "message_stop" },
  ]
    .map(event)
    .join("");
  const output = [
    { id: "i", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "four", annotations: [] }] },
  ];
  const RESPONSE = event({ type: "response.completed", response: { id: "r", status: "completed", output } } as { type: string });
  const writer = () => chatCodec.streamWriter({ callId: "1", model: "m", created: 1, request: {}, includeUsage: false });
  const CASES: readonly (readonly [string, string, () => StreamAnswer["codec"]])[] = [
    ["chat", CHAT, () => new ChatStream({ hideUsage: false })],
    [
      "chat, recorded for the cache",
      CHAT,
      () => new RecordedStream({ head: [], codec: new ChatStream({ hideUsage: false }) } as unknown as StreamAnswer, 1_000),
    ],
    ["chat, translated", CHAT, () => new TranslatedStream(chatCodec.streamReader(), writer(), null)],
    ["completions", COMPLETION, () => new CompletionsStream({ hideUsage: false })],
    ["messages", MESSAGE, () => new MessagesStream()],
    ["messages, translated", MESSAGE, () => new TranslatedStream(messagesCodec.streamReader(), writer(), null)],
    ["responses", RESPONSE, () => new ResponsesStream()],
    ["responses, translated", RESPONSE, () => new TranslatedStream(responsesCodec.streamReader(), writer(), null)],
  ];

  /** Sends everything in one piece, then keeps its body open in silence or fails. */
  function upstreamSending(
    text: string,
    then: "stays open" | "breaks off",
  ): { readonly upstream: StreamAnswer["upstream"]; readonly cancelled: Promise<void> } {
    const cancelled = Promise.withResolvers<void>();
    const upstream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          else if (then === "breaks off") controller.error(new Error("connection reset"));
          text = "";
        },
        cancel: () => cancelled.resolve(),
      },
      { highWaterMark: 0 },
    ).getReader();
    return { upstream, cancelled: cancelled.promise };
  }

  const answered = (upstream: StreamAnswer["upstream"], codec: StreamAnswer["codec"]): StreamAnswer => ({
    kind: "stream",
    status: 200,
    headers: {},
    upstream,
    codec,
    head: [],
    inputCharacters: 0,
  });

  test.each(
    CASES.flatMap(([name, text, codec]) => (["stays open", "breaks off"] as const).map((then) => [name, then, text, codec] as const)),
  )("%s, and %s: the answer ends complete", async (_name, then, text, codec) => {
    const { upstream } = upstreamSending(text, then);
    let end: StreamEnd | undefined;
    const stream = streamOut({ abort: new AbortController() } as Call, answered(upstream, codec()), {
      idleMs: 60_000,
      sent: () => undefined,
      end: async (how) => ((end = how), how.last),
    });
    expect(await new Response(stream).text()).toContain("four");
    expect(end).toMatchObject({ failure: null, abandoned: null });
  });

  test("is not waited for when its answer is buffered either, and is released", async () => {
    const { upstream, cancelled } = upstreamSending(CHAT, "stays open");
    const held = await bufferAnswer(
      { abort: new AbortController() } as Call,
      answered(upstream, new ChatStream({ hideUsage: false })),
      IDLE_MS,
    );
    expect(isRefusal(held) ? held.code : held.answer.codec.end().complete).toBe(true);
    await cancelled;
  });

  test("is buffered up to the limit of its kind", async () => {
    const held = async (mostHeld?: number) => {
      const upstream = new Response(new Uint8Array(9 * 1024 * 1024)).body?.getReader() as StreamAnswer["upstream"];
      const answer = { ...answered(upstream, PASSED_STREAM), ...(mostHeld !== undefined && { mostHeld }) };
      const buffered = await bufferAnswer({ abort: new AbortController() } as Call, answer, IDLE_MS);
      return isRefusal(buffered) ? buffered.code : buffered.pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
    };
    expect(await held()).toBe("upstream_invalid_response");
    expect(await held(10 * 1024 * 1024)).toBe(9 * 1024 * 1024);
  });
});

describe("a stream of file or audio bytes", () => {
  const piece = (text: string) => new TextEncoder().encode(text);
  const file = (upstream: ReadableStream<Uint8Array>, head: readonly Uint8Array[] = []): StreamAnswer =>
    withHeldEnd({
      ...{ kind: "stream", status: 200, headers: {}, head, inputCharacters: null, bytes: true },
      ...{ upstream: upstream.getReader(), codec: PASSED_STREAM },
    });
  function sending(
    called: Call,
    upstream: ReadableStream<Uint8Array>,
    end: (how: StreamEnd) => Promise<Uint8Array | null>,
    head?: readonly Uint8Array[],
  ) {
    return streamOut(called, file(upstream, head), { idleMs: IDLE_MS, sent: () => undefined, end });
  }

  test("is sent as it arrives, except for the end of the last piece, which waits for the row", async () => {
    const stored = Promise.withResolvers<void>();
    const upstream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const text of ["two, ", "", "t", "hree"]) controller.enqueue(piece(text));
        controller.close();
      },
    });
    const called = { abort: new AbortController() } as Call;
    const stream = sending(called, upstream, async ({ last }) => (await stored.promise, last), [piece("one, ")]);
    let given = "";
    const whole = (async () => {
      for await (const passed of stream) given += new TextDecoder().decode(passed);
    })();
    await until(
      () => given,
      (text) => text === "one, two, thr",
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(given).toBe("one, two, thr");
    stored.resolve();
    await whole;
    expect(given).toBe("one, two, three");
  });

  test.each(["is read", "waits to be read"])(
    "is cut off, and not ended as complete, if the gateway stops while the next piece %s",
    async (when) => {
      const called = { abort: new AbortController() } as Call;
      const { promise: end, resolve } = Promise.withResolvers<StreamEnd>();
      const next = Promise.withResolvers<void>();
      let pieces = 0;
      const upstream = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            if (pieces++ > 2) await next.promise;
            controller.enqueue(piece("more"));
          },
        },
        { highWaterMark: 0 },
      );
      const reader = sending(called, upstream, async (how) => (resolve(how), how.last)).getReader();
      await reader.read();
      if (when === "is read") await reader.read();
      await new Promise((done) => setTimeout(done));
      called.abort.abort("gateway_interrupted");
      next.resolve();
      expect(await end).toMatchObject({ failure: { code: "draining" }, abandoned: "gateway_interrupted", last: null });
      const rest = async () => {
        for (let read = await reader.read(); !read.done; read = await reader.read());
      };
      await expect(rest()).rejects.toThrow("The gateway stopped");
    },
  );
});

describe("a caller that stops reading a stream", () => {
  /** An upstream that sends for as long as it is read. */
  const endlessStream = (): StreamAnswer => ({
    kind: "stream",
    status: 200,
    headers: {},
    upstream: new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(bytes) }).getReader(),
    codec: { ...PASSED_STREAM, push: (piece) => piece, end: () => ({ complete: false, last: null, errorReported: false }) },
    head: [],
    inputCharacters: 0,
  });
  async function begun(unreadMs?: number) {
    const called = { abort: new AbortController() } as Call;
    const { promise: end, resolve } = Promise.withResolvers<StreamEnd>();
    const stream = streamOut(called, endlessStream(), {
      idleMs: IDLE_MS,
      ...(unreadMs !== undefined && { unreadMs }),
      sent: () => undefined,
      end: async (how) => (resolve(how), new TextEncoder().encode("the end")),
    });
    const reader = stream.getReader();
    await reader.read();
    // The next piece arrives, and the caller does not read it.
    await new Promise((done) => setTimeout(done));
    return { called, end, reader };
  }

  test("has its call ended at once when its access ends, and gets the error when it reads on", async () => {
    const { called, end, reader } = await begun();
    called.abort.abort("access_ended");
    expect(await end).toMatchObject({ failure: { code: "access_ended" }, abandoned: null });
    let received = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) received = new TextDecoder().decode(read.value);
    expect(received).toBe("the end");
  });

  test("does not delay stopping the gateway", async () => {
    const { called, end } = await begun();
    called.abort.abort("gateway_interrupted");
    expect(await end).toMatchObject({ abandoned: "gateway_interrupted" });
  });

  test("is disconnected after a while", async () => {
    const { called, end, reader } = await begun(20);
    expect(await end).toMatchObject({ failure: null, abandoned: "client_disconnected" });
    expect(called.abort.signal.reason).toBe("client_disconnected");
    await expect(reader.read()).rejects.toThrow("stopped reading");
  });

  test.each([
    ["access_ended", { failure: { code: "access_ended" }, abandoned: null }],
    ["gateway_interrupted", { failure: null, abandoned: "gateway_interrupted" }],
    ["client_disconnected", { failure: null, abandoned: "client_disconnected" }],
  ] as const)("and disconnects after %s is recorded with that reason", async (reason, expected) => {
    const called = { abort: new AbortController() } as Call;
    let end: StreamEnd | undefined;
    const silent = new ReadableStream<Uint8Array>({ cancel: () => new Promise<void>(() => undefined) }).getReader();
    const answer = { ...endlessStream(), upstream: silent };
    const stream = streamOut(called, answer, { idleMs: IDLE_MS, sent: () => undefined, end: async (how) => ((end = how), null) });
    called.abort.abort(reason);
    await stream.cancel();
    expect(end).toMatchObject(expected);
  });
});

describe("a stream with a silent provider", () => {
  test("sends keep-alives for as long as the provider may be silent, and then fails", async () => {
    const encoder = new TextEncoder();
    const silent = { abort: new AbortController() } as Call;
    const upstream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(encoder.encode("data: 1\n\n"));
        // As the HTTP client does when the call is aborted.
        silent.abort.signal.addEventListener("abort", () => controller.error(new Error("aborted")));
      },
    }).getReader();
    const codec: StreamAnswer["codec"] = {
      push: (piece) => piece,
      end: () => ({ complete: false, last: null, errorReported: false }),
      begun: true,
      usage: null,
      outputLength: 0,
      providerError: null,
    };
    const parts = { status: 200, headers: {}, upstream, codec, head: [], inputCharacters: 0 } as const;
    let sent = "";
    let end: StreamEnd | undefined;
    const stream = streamOut(
      silent,
      { kind: "stream", ...parts, whenSilent: COMMENT_LINE },
      {
        idleMs: 200,
        silentMs: [20, 20],
        sent: (piece) => void (sent += new TextDecoder().decode(piece)),
        end: async (how) => ((end = how), encoder.encode("data: failed\n\n")),
      },
    );
    const given = await new Response(stream).text();
    expect(given).toMatch(/^data: 1\n\n(?:: keep-alive\n)+data: failed\n\n$/);
    expect(`${sent}data: failed\n\n`).toBe(given);
    expect(end?.failure?.code).toBe("upstream_timeout");
  });
});
