import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminClient, rowsOf, type Served, serveModels } from "../support/worlds/admin.ts";
import { type InboundSurface, SURFACES } from "../support/formats/inbound-surfaces.ts";
import { startWorld, type World } from "../support/world.ts";

/**
 * The caller disconnects before the response head, in the middle of a stream, and after its last frame, on each surface: every call has its
 * row, with actual or estimated usage, and the upstream request is cancelled within a second.
 */
const ROUNDS = Number(process.env.CLIENT_GONE_ROUNDS ?? 3);
const CANCELLED_WITHIN_MS = 1_000;

type Moment = "before the head" | "in mid-stream" | "after the last frame";

let world: World;
let admin: AdminClient;
let served: Served;
let upstream: ReturnType<typeof startUpstream>;

beforeAll(async () => {
  upstream = startUpstream();
  world = await startWorld();
  ({ admin } = world);
  served = await serveModels(admin, upstream.baseUrl, ["silent", "stalls", "ends"]);
});
afterAll(async () => {
  await world.end();
  await upstream.stop();
});

const MODEL: Readonly<Record<Moment, string>> = { "before the head": "silent", "in mid-stream": "stalls", "after the last frame": "ends" };
const cases = SURFACES.filter(({ mode }) => mode === "chat").flatMap((surface) =>
  (surface.streamed ? (["before the head", "in mid-stream", "after the last frame"] as const) : (["before the head"] as const)).map(
    (moment) => [surface.name, moment, surface] as const,
  ),
);
const took: number[] = [];

async function hangUp(surface: InboundSurface, moment: Moment, id: string): Promise<void> {
  const { path, body } = surface.request(MODEL[moment], `say ${id}`);
  const gone = new AbortController();
  const letGo = upstream.next(id);
  const answer = fetch(world.gateway.runtimeUrl + path, {
    method: "POST",
    signal: gone.signal,
    headers: { "content-type": "application/json", "x-api-key": served.apiKey, "x-correlation-id": id, "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
  });
  if (moment === "before the head") {
    await Promise.race([
      letGo.arrived,
      answer.then(async (early) => Promise.reject(new Error(`answered at once: ${early.status} ${await early.text()}`))),
    ]);
    gone.abort();
    await answer.catch(() => undefined);
  } else {
    const head = await answer;
    if (head.status !== 200) throw new Error(`${head.status} ${await head.text()}`);
    const reader = (head.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      text += decoder.decode(value, { stream: true });
      if (done || (moment === "in mid-stream" ? text.includes("half") : surface.read(text) === "answer")) break;
    }
    expect(text).toContain("half");
    gone.abort();
  }
  if (moment === "after the last frame") return;
  const from = performance.now();
  await letGo.cancelled;
  took.push(performance.now() - from);
}

for (const [name, moment, surface] of cases) {
  test(`${name}, ${moment}: ${ROUNDS} rows for ${ROUNDS} calls`, async () => {
    const ids = Array.from({ length: ROUNDS }, (_, round) => `${name} ${moment} ${round}`);
    await Promise.all(ids.map((id) => hangUp(surface, moment, id)));
    const rows = await rowsOf(admin, { correlation_id: ids }, ROUNDS);
    expect(rows.map((row) => row.correlation_id).toSorted()).toEqual(ids.toSorted());
    for (const row of rows) {
      if (moment === "before the head")
        expect(row).toMatchObject({
          success: false,
          error_type: "client_disconnected",
          http_status_code: 499,
          llm_fallback_reason: null,
          custom_metadata: { attempts: [{ outcome: "client_disconnected", status: null }] },
        });
      if (moment === "in mid-stream") {
        expect(row).toMatchObject({ success: false, error_type: "client_disconnected", http_status_code: 200, tags: ["usage_estimated"] });
        expect(row.llm_completion_tokens).toBeGreaterThan(0);
      }
      if (moment === "after the last frame") {
        expect(row.llm_total_tokens).toBeGreaterThan(0);
        expect([null, "client_disconnected"]).toContain(row.error_type);
      }
    }
  });
}

test("the upstream request is cancelled within a second", () => {
  const sorted = took.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] as number;
  console.log(
    `  ${cases.length * ROUNDS} callers hung up; of ${sorted.length} upstream calls half were let go after ${Math.round(median)} ms, the last after ${Math.round(sorted.at(-1) as number)} ms`,
  );
  // On a loaded machine a few cancellations may be late.
  expect(median).toBeLessThan(CANCELLED_WITHIN_MS);
});

/** Serves OpenAI's three generating routes. The model's name decides how far an answer gets; the prompt identifies the call. */
function startUpstream() {
  const waiting = new Map<string, { arrived: () => void; cancelled: () => void }>();
  const encoder = new TextEncoder();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text();
      const { model } = JSON.parse(text) as { model: string };
      const id = /say ([^"]+)"/.exec(text)?.[1] ?? "";
      request.signal.addEventListener("abort", () => waiting.get(id)?.cancelled(), { once: true });
      waiting.get(id)?.arrived();
      if (model === "silent") return new Promise<Response>(() => undefined);
      const { begin, end } = framesOf(new URL(request.url).pathname);
      return new Response(
        new ReadableStream<Uint8Array>({
          start(controller) {
            controller.enqueue(encoder.encode(begin));
            if (model !== "ends") return;
            controller.enqueue(encoder.encode(end));
            controller.close();
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      );
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    next(id: string): { arrived: Promise<void>; cancelled: Promise<void> } {
      const arrived = Promise.withResolvers<void>();
      const cancelled = Promise.withResolvers<void>();
      waiting.set(id, { arrived: arrived.resolve, cancelled: cancelled.resolve });
      return { arrived: arrived.promise, cancelled: cancelled.promise };
    },
    stop: () => server.stop(true),
  };
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string }) => `event: ${value.type}\n${data(value)}`;

function framesOf(path: string): { begin: string; end: string } {
  const words = "half an answer of some length";
  if (path.endsWith("/responses")) {
    const response = { id: "resp_1", object: "response", created_at: 1, model: "m", status: "in_progress", output: [] };
    const item = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: words, annotations: [] }],
    };
    return {
      begin: [
        event({ type: "response.created", response } as never),
        event({ type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } } as never),
        event({
          type: "response.content_part.added",
          item_id: "msg_1",
          output_index: 0,
          content_index: 0,
          part: { type: "output_text", text: "", annotations: [] },
        } as never),
        event({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: words } as never),
      ].join(""),
      end: event({
        type: "response.completed",
        response: { ...response, status: "completed", output: [item], usage: { input_tokens: 5, output_tokens: 6, total_tokens: 11 } },
      } as never),
    };
  }
  const usage = { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 };
  if (path.endsWith("/chat/completions")) {
    const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) =>
      data({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }], ...rest });
    return {
      begin: chunk({ role: "assistant", content: "" }) + chunk({ content: words }),
      end: `${chunk({}, "stop")}${data({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}data: [DONE]\n\n`,
    };
  }
  const piece = (text: string, finish_reason: string | null = null, rest: object = {}) =>
    data({
      id: "c",
      object: "text_completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, text, logprobs: null, finish_reason }],
      ...rest,
    });
  return { begin: piece(words), end: `${piece("", "stop", { usage })}data: [DONE]\n\n` };
}
