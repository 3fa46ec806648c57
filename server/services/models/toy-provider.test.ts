import { beforeEach, describe, expect, test } from "bun:test";
import type { ApiFormat } from "@gatehouse/contracts/provider-formats";
import type { ModelEntry, TenantSnapshot } from "../../directory/snapshot.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { FileRoom } from "../../road/request/file-room.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import type { Conversation } from "../../road/request/conversation.ts";
import type { Provider } from "../../upstreams/providers/provider.ts";
import type { ProviderTraits } from "../../upstreams/providers/traits.ts";
import type { ConversationFormat, ProviderCodec, StreamReader } from "../../wire/conversation/codec.ts";
import type { ConversationEvent } from "../../wire/conversation/reply.ts";
import { isObject } from "../../kernel/json-value.ts";
import type { EmbeddingsCodec } from "../../wire/embeddings/embeddings-codec.ts";
import { EmbeddingsRequest, readEmbeddingsRequest } from "../../wire/embeddings/embeddings-request.ts";
import { chatCodec } from "../../wire/openai/chat/codec.ts";
import { readChatReply } from "../../wire/openai/chat/reply.ts";
import { readChatRequest } from "../../wire/openai/chat/request.ts";
import { ChatStream } from "../../wire/openai/chat/stream.ts";
import type { ProviderOperation } from "../../wire/operation.ts";
import { NOTHING_SENT } from "../../wire/sent-settings.ts";
import { dispatch, type DispatchParts } from "./dispatch.ts";
import { MemberHealth } from "./routing/member-health.ts";
import { probe } from "./routing/probe.ts";
import { residencyOf } from "./routing/residency.ts";

/**
 * A vendor unknown to the gateway, with its own format, written only with what `upstreams/` and `wire/` export. Its names stand for the
 * entries it would add to the lists of formats.
 */
const FORMAT = "toy" as ConversationFormat;
const SAY = "toy" as ProviderOperation;
const EMBED = "toy_embed" as ProviderOperation;

const USAGE = { inputUncached: 3, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 2, reasoning: 0, estimated: false };

/** One line per word. */
class ToyStream implements StreamReader {
  private text = "";
  private begun = false;

  push(piece: Uint8Array): ConversationEvent[] {
    const lines = (this.text + new TextDecoder().decode(piece)).split("\n");
    this.text = lines.pop() ?? "";
    const said = lines.map((text): ConversationEvent => ({ kind: "delta", candidate: 0, part: 0, text }));
    if (this.begun) return said;
    this.begun = true;
    return [{ kind: "start", id: "t1" }, { kind: "part_start", candidate: 0, part: 0, type: "text" }, ...said];
  }

  end(): ReturnType<StreamReader["end"]> {
    const usage = { kind: "usage", usage: USAGE } as const;
    const stop = { kind: "stop", candidate: 0, reason: "end", stopSequence: null, stopDetail: null } as const;
    return { complete: true, events: [{ kind: "part_end", candidate: 0, part: 0 }, stop, usage] };
  }
}

const toyCodec: ProviderCodec = {
  format: FORMAT,
  signs: false,
  needsMediaBytes: true,
  writeRequest: ({ turns, stream }, { name }) => ({
    body: { toy: name, say: turns.flatMap(({ parts }) => parts.map((part) => ("text" in part ? part.text : ""))), stream },
    dropped: ["seed"],
  }),
  sentSettings: () => NOTHING_SENT,
  readReply: ({ said }) =>
    typeof said === "string"
      ? {
          id: "t1",
          candidates: [{ index: 0, parts: [{ kind: "text", text: said }], stop: "end", stopSequence: null, stopDetail: null }],
          usage: USAGE,
        }
      : null,
  streamReader: () => new ToyStream(),
  readFault: (status) => ({ status, message: "The toy is broken.", code: null, param: null }),
};

const toyEmbeddings: EmbeddingsCodec = {
  operation: EMBED,
  write: (model, inputs) =>
    inputs.includes("") ? { unsupported: "A toy needs words." } : { body: JSON.stringify({ toy: model, inputs }) },
  read: (answer) =>
    isObject(answer) && Array.isArray(answer.numbers) ? { vectors: answer.numbers as unknown as number[][], inputTokens: 7 } : null,
};

const toyTraits = {
  // Its chat models speak OpenAI's format.
  codecFor: ({ modelName }) => (modelName.startsWith("toy-chat") ? chatCodec : toyCodec),
  ceilingName: () => "max_tokens",
  keepsState: ({ modelName }) => modelName === "toy-chat-keeping",
  embeddings: toyEmbeddings,
  counts: (_model, operation) => operation === "count_tokens",
  isStream: (_operation, contentType) => contentType.startsWith("application/x-toy"),
  local: true,
} satisfies ProviderTraits;

const asked: { operation: string; body: unknown }[] = [];
beforeEach(() => asked.splice(0));

const toy: Provider = {
  traits: toyTraits,
  url: (_target, operation) => `https://toy.example/${operation}`,
  async send(_target, { operation, body, stream }) {
    asked.push({ operation, body: JSON.parse(body) });
    const answers: Readonly<Record<string, () => Response>> = {
      [SAY]: () =>
        stream
          ? new Response("Hello\n there\n", { headers: { "content-type": "Application/X-Toy" } })
          : Response.json({ said: "Hello there" }),
      [EMBED]: () => Response.json({ numbers: [[1, 2]] }),
      chat: () => Response.json({ id: "c1", choices: [{ index: 0, message: { role: "assistant", content: "As it came" } }] }),
      count_tokens: () => Response.json({ input_tokens: 5 }),
    };
    return { response: (answers[operation] as () => Response)(), requestId: "toy-1" };
  },
};

const providers = { ["toy" as ApiFormat]: toy } as DispatchParts["providers"];

const model = (modelName: string) =>
  ({
    id: modelName,
    name: modelName,
    modelName,
    modes: ["chat"],
    priceSchedule: [],
    maxTokensParameter: null,
    defaultTemperature: null,
    defaultMaxTokens: null,
    systemPrompt: null,
    supportsSampling: true,
    provider: { providerKey: "toys", apiFormat: "toy", baseUrl: "https://toy.example", region: null },
  }) as unknown as ModelEntry;

const tenant = { allowedRegions: new Set(["eu"]) } as unknown as TenantSnapshot;

function callOf(modelName: string): Call {
  return {
    id: "c",
    row: { timestamp: "2026-11-21T00:00:00.000000Z" },
    scope: { tenant },
    audit: { proxyType: "llm" },
    headers: { all: {} },
    target: { kind: "model", route: { group: null, members: [{ model: model(modelName), weight: 1 }] }, model: model(modelName) },
    attempts: [],
    whenEnded: [],
    requestContent: null,
    notedContent: null,
    abort: new AbortController(),
  } as unknown as Call;
}

const served = dispatch({
  providers,
  clock: { now: () => 0 },
  begin: () => undefined,
  timeoutMs: 5_000,
  health: new MemberHealth(() => 0),
  limits: { enter: async () => null },
  random: () => 0,
  signatures: { keep: () => undefined, find: async () => new Map() },
  items: { keep: () => undefined },
  media: { inlined: async (request: unknown) => request },
  room: new FileRoom(),
  tools: {},
  authorization: {},
  engines: {},
} as unknown as DispatchParts);

function conversation(body: Readonly<Record<string, unknown>>): Conversation {
  const inbound = readChatRequest(
    new TextEncoder().encode(JSON.stringify({ model: "toy", messages: [{ role: "user", content: "Hi" }], ...body })),
  );
  if ("fields" in inbound) throw new Error(JSON.stringify(inbound.fields));
  return {
    inbound,
    caller: chatCodec,
    passing: { stream: () => new ChatStream({ hideUsage: true }), reply: readChatReply },
    writer: null,
    streamType: "text/event-stream",
    includeUsage: false,
    headers: {},
    statefulFields: [],
  };
}

function answered(answer: Answer | { readonly code: string; readonly message: string }): Answer {
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer as Answer;
}

async function bodyOf(answer: Answer): Promise<string> {
  if (answer.kind === "whole") return new TextDecoder().decode(answer.body);
  const { upstream, codec } = answer;
  const pieces = [...answer.head];
  for (let read = await upstream.read(); !read.done; read = await upstream.read()) pieces.push(codec.push(read.value) ?? new Uint8Array());
  pieces.push(codec.end().last ?? new Uint8Array());
  return Buffer.concat(pieces).toString("utf8");
}

describe("a provider known only to upstreams/, wire/ and the lists of formats", () => {
  test("gets a chat translated to its own format, and its answer is translated back to a chat completion", async () => {
    const call = callOf("toy-1");
    const answer = answered(await served.converse(call, conversation({ seed: 4 })));
    expect(asked).toEqual([{ operation: "toy", body: { toy: "toy-1", say: ["Hi"], stream: false } }]);
    expect(JSON.parse(await bodyOf(answer))).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { content: "Hello there" } }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
    expect(answer.headers["x-gw-dropped-parameters"]).toBe("seed");
    expect(call.row).toMatchObject({ target_url: "https://toy.example/toy", upstream_request_id: "toy-1", residency_class: "allowed" });
  });

  test("may stream in its own framing, which the caller gets as stream events", async () => {
    const answer = answered(await served.converse(callOf("toy-1"), conversation({ stream: true })));
    expect([answer.kind, answer.headers["content-type"]]).toEqual(["stream", "text/event-stream"]);
    const body = await bodyOf(answer);
    expect(body.match(/"content":"[^"]+"/g)).toEqual(['"content":"Hello"', '"content":" there"']);
    expect(body).toEndWith("data: [DONE]\n\n");
  });

  test("gets a chat unchanged for a model that speaks the chat format", async () => {
    const answer = answered(await served.converse(callOf("toy-chat"), conversation({ x_new: [1] })));
    expect(asked).toEqual([{ operation: "chat", body: { model: "toy-chat", messages: [{ role: "user", content: "Hi" }], x_new: [1] } }]);
    expect(JSON.parse(await bodyOf(answer)).choices[0].message.content).toBe("As it came");
  });

  test("is not sent a request that refers to an earlier call", async () => {
    const refused = await served.converse(callOf("toy-chat"), { ...conversation({}), statefulFields: ["previous_response_id"] });
    expect(refused).toMatchObject({ code: "unsupported_parameter", fields: [{ field: "previous_response_id" }] });
  });

  test("that keeps a conversation with its instructions is sent no new instructions when it continues", async () => {
    const going = (instructions: readonly string[]) => {
      const kept = { ...conversation({ thread: "t" }), statefulFields: ["thread"], instructedBy: "thread" };
      kept.inbound.addInstructions(instructions, []);
      return served.converse(callOf("toy-chat-keeping"), kept);
    };
    expect(await going(["Be kind."])).toMatchObject({ code: "unsupported_parameter", fields: [{ field: "thread" }] });
    expect(asked).toEqual([]);
    answered(await going([]));
    expect(asked).toMatchObject([{ body: { thread: "t" } }]);
  });

  test("creates embeddings in its own format, and reports what it does not support", async () => {
    const embed = (input: string) => {
      const request = readEmbeddingsRequest(new TextEncoder().encode(JSON.stringify({ model: "toy", input })));
      if (!(request instanceof EmbeddingsRequest)) throw new Error(JSON.stringify(request));
      return request;
    };
    const answer = answered(await served.embed(callOf("toy-1"), embed("Hi")));
    expect(asked).toEqual([{ operation: "toy_embed", body: { toy: "toy-1", inputs: ["Hi"] } }]);
    expect(JSON.parse(await bodyOf(answer))).toMatchObject({ data: [{ embedding: [1, 2] }], usage: { prompt_tokens: 7 } });
    const request = { ...embed("Hi"), inputs: [""], inputCharacters: 0, dimensions: null } as unknown as EmbeddingsRequest;
    expect(await served.embed(callOf("toy-1"), request)).toMatchObject({ code: "unsupported_parameter", message: "A toy needs words." });
  });

  test("counts tokens for the operations in its traits only", async () => {
    const { inbound } = conversation({});
    const count = (operation: "count_tokens" | "gemini_count") =>
      served.countTokens(callOf("toy-chat"), { inbound, operation, headers: {}, estimate: () => ({ input_tokens: 99 }) });
    expect(JSON.parse(await bodyOf(answered(await count("count_tokens"))))).toEqual({ input_tokens: 5 });
    expect(JSON.parse(await bodyOf(answered(await count("gemini_count"))))).toEqual({ input_tokens: 99 });
  });

  test("is probed in its own format", async () => {
    expect(await probe(model("toy-1"), { providers, clock: { now: () => 0 } as DispatchParts["clock"] })).toMatchObject({ healthy: true });
    expect(asked).toEqual([{ operation: "toy", body: { toy: "toy-1", say: ["ping"], stream: false } }]);
  });

  test("is allowed in every region if its traits say that it is local", () => {
    const elsewhere = { ["toy" as ApiFormat]: { ...toy, traits: { ...toyTraits, local: false } } } as DispatchParts["providers"];
    expect([residencyOf(tenant, model("toy-1"), providers), residencyOf(tenant, model("toy-1"), elsewhere)]).toEqual([
      "allowed",
      "blocked",
    ]);
  });
});
