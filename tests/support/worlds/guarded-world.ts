import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { ANSWER_SURFACES, type AnswerSurface, type StreamedToolCall } from "../formats/answer-streams.ts";
import { type FakeVendor, fakeVendor } from "../vendors/fake-vendor.ts";
import { startWorld, type World } from "../world.ts";

interface Said {
  readonly pieces: readonly string[];
  readonly call?: StreamedToolCall;
  /** Milliseconds between a stream's frames; without it, all are sent at once. */
  readonly paceMs?: number;
}

/** What the vendors answer, by model name. */
export const SAID = {
  /** In tokens as models produce them, one at a time. */
  paced: { pieces: ["Certainly", ", ", "the ", "meet", "ing ", "is ", "at ", "noon ", "in ", "the ", "green ", "room", "."], paceMs: 5 },
  plain: { pieces: ["All ", "is ", "well."] },
  personal: { pieces: ["Write to jo", "e@exam", "ple.com or pay with 4539 1488 ", "0343 6467 to", "day."] },
  query: { pieces: ["Look: "], call: { name: "run_sql", pieces: ['{"query":"SEL', 'ECT 1"}'] } },
  write: { pieces: ["Look: "], call: { name: "run_sql", pieces: ['{"query":"SELECT 1; DR', 'OP TABLE users"}'] } },
} as const satisfies Record<string, Said>;
export type Line = keyof typeof SAID;

export const REDACTED = "Write to [REDACTED:email] or pay with [REDACTED:credit_card] today.";

export interface Caller {
  readonly groupId: string;
  readonly apiKey: string;
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
  readonly google: GoogleGenAI;
}

export interface GuardedWorld extends World {
  readonly vendor: FakeVendor;
  /** Creates a group of its own, so that what is bound to it affects no other. */
  caller(name: string, bind: (groupId: string) => Promise<void>): Promise<Caller>;
  modelOf(surface: AnswerSurface, line: Line): string;
}

const surfaceOfPath = (path: string): AnswerSurface => {
  const name = path.includes("alt=sse")
    ? "gemini events"
    : path.includes("models/")
      ? "gemini array"
      : path.endsWith("/chat/completions")
        ? "chat"
        : path.endsWith("/completions")
          ? "completions"
          : path.endsWith("/responses")
            ? "responses"
            : "messages";
  return ANSWER_SURFACES.find((surface) => surface.name === name) as AnswerSurface;
};

/** What every fake engine blocks; it occurs in the answer `plain`. */
export const FORBIDDEN = "well";

/** `/engine/<how>`: a webhook that judges, is broken, or never answers. */
function engineAnswer(path: string, body: string): Response | Promise<Response> {
  if (path.endsWith("broken")) return Response.json({}, { status: 500 });
  if (path.endsWith("silent")) return new Promise(() => undefined);
  return Response.json(body.includes(FORBIDDEN) ? { action: "block", check: "jailbreak" } : { action: "allow" });
}

/** A body that is sent one frame every `paceMs`, or all at once. */
function framesAt(frames: readonly Uint8Array[], paceMs: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async start(controller) {
      for (const frame of frames) {
        if (paceMs > 0) await Bun.sleep(paceMs);
        controller.enqueue(frame);
      }
      controller.close();
    },
  });
}

/** A gateway in front of one server that speaks every vendor's format. */
export async function startGuardedWorld(): Promise<GuardedWorld> {
  const vendor = fakeVendor(({ path, body }) => {
    if (path.startsWith("/engine")) return engineAnswer(path, body);
    const asked = JSON.parse(body) as { model?: string; stream?: boolean };
    if (path.endsWith("/embeddings"))
      return Response.json({
        object: "list",
        model: "m",
        data: [{ object: "embedding", index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    if (asked.model === "guard")
      return Response.json(surfaceOfPath("/chat/completions").whole(body.includes(FORBIDDEN) ? "unsafe\nS1" : "safe"));
    if (path.endsWith("count_tokens")) return Response.json({ input_tokens: 1 });
    const said: Said = SAID[(Object.keys(SAID) as Line[]).find((line) => (asked.model ?? path).includes(line)) ?? "plain"];
    const surface = surfaceOfPath(path);
    const isStream = asked.stream === true || path.includes(":stream");
    if (!isStream) return Response.json(surface.whole(said.pieces.join(""), said.call));
    const frames = surface.frames(said.pieces, said.call);
    return new Response(framesAt(frames, said.paceMs ?? 0), {
      headers: { "content-type": surface.framing === "array" ? "application/json" : "text/event-stream" },
    });
  });
  const world = await startWorld();
  const { admin, gateway } = world;
  const tenant = { tenant_id: "default" };
  const formats = {
    openai: { base: "/v1", modes: ["chat", "completion"] },
    "openai-responses": { base: "/v1", modes: ["responses"] },
    anthropic: { base: "", modes: ["chat"] },
    gemini: { base: "/v1beta", modes: ["chat"] },
  } as const;
  const models: string[] = [];
  for (const [id, { base, modes }] of Object.entries(formats)) {
    await admin.post("/v1/admin/providers", {
      ...tenant,
      provider_key: `fake-${id}`,
      api_format: id.split("-")[0],
      base_url: `${vendor.origin}${base}`,
      api_key: "vendor-secret-0001",
    });
    for (const line of Object.keys(SAID))
      models.push(
        (
          await admin.post("/v1/admin/llms", {
            ...tenant,
            name: `${id}-${line}`,
            model_name: `${id}-${line}`,
            provider: `fake-${id}`,
            modes,
            enabled: true,
          })
        ).id,
      );
  }
  models.push(
    (
      await admin.post("/v1/admin/llms", {
        ...tenant,
        name: "vectors",
        model_name: "vectors",
        provider: "fake-openai",
        modes: ["embedding"],
        enabled: true,
      })
    ).id,
  );
  await admin.post("/v1/admin/llms", {
    ...tenant,
    name: "guard",
    model_name: "guard",
    provider: "fake-openai",
    modes: ["chat"],
    enabled: true,
  });
  return {
    ...world,
    vendor,
    modelOf: ({ format }, line) =>
      `${format === "messages" ? "anthropic" : format === "gemini" ? "gemini" : format === "responses" ? "openai-responses" : "openai"}-${line}`,
    async caller(name, bind) {
      const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, group_type: "team" });
      await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: models });
      await bind(group.id);
      const { key_value: apiKey } = await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, {
        name: `${name} key`,
        access_mode: "shared",
      });
      return {
        groupId: group.id,
        apiKey,
        openai: new OpenAI({ baseURL: `${gateway.runtimeUrl}/v1/proxy/llm`, apiKey, maxRetries: 0 }),
        anthropic: new Anthropic({ baseURL: gateway.runtimeUrl, apiKey, maxRetries: 0 }),
        google: new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.runtimeUrl } }),
      };
    },
    async end() {
      await world.end();
      await vendor.stop();
    },
  };
}
