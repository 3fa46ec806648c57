/**
 * A scripted, independent model provider with OpenAI's API. The model name in a request selects its behavior; it records every request byte
 * for byte.
 */
export interface SeenRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  /** Resolves when the gateway hung up before the answer was complete. */
  readonly aborted: Promise<void>;
}

export interface FakeUpstream {
  readonly baseUrl: string;
  readonly seen: SeenRequest[];
  /** Lets a `hold` answer continue, and a `torn` one break off. */
  release(): void;
  stop(): Promise<void>;
}

export const ANSWER = {
  id: "chatcmpl-fake1",
  object: "chat.completion",
  created: 1763712000,
  model: "fake-1",
  choices: [
    { index: 0, message: { role: "assistant", content: "Grüße aus Übersee 👋", refusal: null }, logprobs: null, finish_reason: "stop" },
  ],
  usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500, prompt_tokens_details: { cached_tokens: 200 } },
  service_tier: "default",
  a_field_of_tomorrow: { nested: [1, 2.5, null] },
};

/** Oddly spaced on purpose: parsing and serializing it again would change it. */
export const ANSWER_TEXT = JSON.stringify(ANSWER, null, 1).replace('"created": 1763712000', '"created":   1763712000');

const chunk = (delta: unknown, finish_reason: string | null = null) => ({
  id: "chatcmpl-fake2",
  object: "chat.completion.chunk",
  created: 1763712000,
  model: "fake-1",
  choices: [{ index: 0, delta, finish_reason }],
});
const frame = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;

export const STREAM_WORDS = ["Grüße ", "aus ", "Übersee ", "👋"];
export const STREAM_FRAMES = [
  frame(chunk({ role: "assistant", content: "" })),
  ...STREAM_WORDS.map((content) => frame(chunk({ content }))),
  frame(chunk({}, "stop")),
];
export const USAGE_FRAME = frame({
  id: "chatcmpl-fake2",
  object: "chat.completion.chunk",
  created: 1763712000,
  model: "fake-1",
  choices: [],
  usage: { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 },
});
const DONE = "data: [DONE]\n\n";

const TOOL_FRAMES = [
  frame(
    chunk({
      role: "assistant",
      content: null,
      tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } }],
    }),
  ),
  frame(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"ci' } }] })),
  frame(chunk({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Oslo"}' } }] })),
  frame(chunk({}, "tool_calls")),
];

export function startFakeUpstream(): FakeUpstream {
  const seen: SeenRequest[] = [];
  let release: () => void = () => undefined;
  let held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const encoder = new TextEncoder();

  const stream = (frames: string[], options: { holdAfter?: number; tear?: boolean } = {}) =>
    new Response(
      new ReadableStream<Uint8Array>({
        async start(controller) {
          for (const [i, text] of frames.entries()) {
            if (i === options.holdAfter) await held;
            try {
              controller.enqueue(encoder.encode(text));
            } catch {
              return;
            }
          }
          if (options.tear) {
            await held;
            controller.error(new Error("the fake upstream tears its stream"));
          } else controller.close();
        },
      }),
      { headers: { "content-type": "text/event-stream", "x-request-id": "req_fake" } },
    );

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = await request.text();
      const aborted = new Promise<void>((resolve) => request.signal.addEventListener("abort", () => resolve(), { once: true }));
      seen.push({ path: new URL(request.url).pathname, headers: Object.fromEntries(request.headers), body, aborted });
      const asked = JSON.parse(body) as { model: string; stream?: boolean; stream_options?: { include_usage?: boolean } };
      const usage = asked.stream_options?.include_usage ? [USAGE_FRAME] : [];
      const refuse = (status: number, headers: Record<string, string> = {}) =>
        Response.json(
          { error: { message: `fake ${status}`, type: "invalid_request_error", param: null, code: "fake" } },
          { status, headers },
        );
      switch (asked.model) {
        case "bad-request":
          return refuse(400);
        case "bad-key":
          return refuse(401);
        case "slow-down":
          return refuse(429, { "retry-after": "7" });
        case "slow-down-ms":
          return refuse(429, { "retry-after-ms": "1500" });
        case "broken":
          return refuse(500);
        case "redirect":
          return new Response(null, { status: 307, headers: { location: "http://127.0.0.1:1/" } });
        case "nonsense":
          return new Response('{"id": "cut off he', { headers: { "content-type": "application/json" } });
        case "silent":
          return new Promise<Response>(() => undefined);
        case "torn":
          return stream(STREAM_FRAMES.slice(0, 3), { tear: true });
        case "short":
          return stream(STREAM_FRAMES.slice(0, 3));
        case "spent":
          return stream([USAGE_FRAME]);
        case "hold":
          return stream([...STREAM_FRAMES, ...usage, DONE], { holdAfter: 2 });
        case "tools":
          return asked.stream
            ? stream([...TOOL_FRAMES, ...usage, DONE])
            : Response.json({
                ...ANSWER,
                choices: [
                  {
                    index: 0,
                    message: {
                      role: "assistant",
                      content: null,
                      tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }],
                    },
                    finish_reason: "tool_calls",
                  },
                ],
              });
        default:
          return asked.stream
            ? stream([...STREAM_FRAMES, ...usage, DONE])
            : new Response(ANSWER_TEXT, {
                headers: {
                  "content-type": "application/json",
                  "x-request-id": "req_fake",
                  "openai-processing-ms": "3",
                  "set-cookie": "a=b",
                },
              });
      }
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    seen,
    release() {
      release();
      held = new Promise((resolve) => {
        release = resolve;
      });
    },
    stop: () => server.stop(true),
  };
}
