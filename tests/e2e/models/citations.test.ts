import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAnthropic } from "@ai-sdk/anthropic";
import Anthropic from "@anthropic-ai/sdk";
import { type GenerateContentResponse, GoogleGenAI } from "@google/genai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { CITED, type Cited, citedAnswer, citedStream, type CitingFormat, PAGE_URL, said } from "../../support/vendors/cited-answers.ts";
import { fakeVendor, type FakeVendor } from "../../support/vendors/fake-vendor.ts";
import type { Loose } from "../../support/vendors/loose.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Vendors that cite web pages, and the official clients of other vendors, which read what is cited. */
const MAIL = "joe@example.com";
const HIDDEN: Cited = {
  before: `🏔 Grüezi ${MAIL}: `,
  passage: `Zürich lies on a lake, says ${MAIL}.`,
  after: " It is déep.",
  title: `Lakes by ${MAIL}`,
  quote: `${MAIL} is at the lake.`,
};
const REDACTED = Object.fromEntries(
  Object.entries(HIDDEN).map(([name, text]) => [name, text.replace(MAIL, "[REDACTED:email]")]),
) as unknown as Cited;
const tenant = { tenant_id: "default" };
const PROVIDERS = [
  ["chat", "openai", "/v1", "chat", "m"],
  ["responses", "openai", "/v1", "responses", "gpt-6"],
  ["messages", "anthropic", "", "chat", "claude-sonnet-5"],
  ["gemini", "gemini", "", "chat", "gemini-3-pro"],
  ["converse", "bedrock", "", "chat", "anthropic.claude-sonnet-4-5-20250929-v1:0"],
] as const;
const GROUPS = ["open", "guarded"] as const;
type Group = (typeof GROUPS)[number];

let world: World;
let vendor: FakeVendor;
let cited = CITED;
const keys: Record<string, string> = {};

function formatAt(path: string): CitingFormat {
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/messages")) return "messages";
  return path.includes("/converse") ? "converse" : "gemini";
}

beforeAll(async () => {
  vendor = fakeVendor(({ path, body }) => {
    const format = formatAt(path);
    const { stream, messages } = JSON.parse(body) as Loose;
    const blocks: Loose[] = format !== "messages" ? [] : messages.flatMap(({ content }: Loose) => (Array.isArray(content) ? content : []));
    if (blocks.some(({ citations = [] }) => citations.some(({ encrypted_index }: Loose) => encrypted_index !== "Eo8B")))
      return Response.json(
        { type: "error", error: { type: "invalid_request_error", message: "Invalid encrypted_index" } },
        { status: 400 },
      );
    if (stream !== true && !/stream/i.test(path)) return Response.json(citedAnswer(format, cited));
    const type = format === "converse" ? "application/vnd.amazon.eventstream" : "text/event-stream";
    return new Response(citedStream(format, cited), { headers: { "content-type": type } });
  });
  world = await startWorld();
  const { admin } = world;
  const models: string[] = [];
  for (const [name, api_format, base, mode, model_name] of PROVIDERS) {
    const provider = { provider_key: name, api_format, base_url: `${vendor.origin}${base}`, api_key: "sk-1" };
    await admin.post("/v1/admin/providers", { ...tenant, ...provider });
    models.push((await admin.post("/v1/admin/llms", { ...tenant, name, model_name, provider: name, modes: [mode] })).id);
  }
  for (const name of GROUPS) {
    const group = await admin.post("/v1/admin/resource-groups", { ...tenant, name, group_type: "team" });
    await admin.post(`/v1/admin/resource-groups/${group.id}/llm-models`, { model_ids: models });
    if (name === "guarded")
      await admin.post("/v1/admin/guardrails/configs", {
        ...{ ...tenant, name, group_ids: [group.id] },
        builtin: { pii_enabled: true, pii_action: "redact" },
      });
    keys[name] = (await admin.post(`/v1/admin/resource-groups/${group.id}/api-keys`, { name: "key", access_mode: "shared" })).key_value;
  }
});

afterAll(async () => {
  await world.end();
  await vendor.stop();
});

interface Answered {
  readonly text: string;
  readonly found: readonly { readonly passage: string; readonly url: string | undefined; readonly title?: string | null | undefined }[];
  readonly all: string;
}

const openai = (group: Group) =>
  new OpenAI({ baseURL: `${world.gateway.runtimeUrl}/v1/proxy/llm`, apiKey: keys[group] ?? "", maxRetries: 0 });
const anthropic = (group: Group) => new Anthropic({ baseURL: world.gateway.runtimeUrl, apiKey: keys[group] ?? "", maxRetries: 0 });
/** Positions count code points, as Python does. */
const sliced = (text: string, start: number, end: number) => [...text].slice(start, end).join("");

async function byChat(group: Group, model: string, stream: boolean): Promise<Answered> {
  const { completions } = openai(group).chat;
  const asked = { model, messages: [{ role: "user" as const, content: "Where?" }] };
  if (!stream) {
    const answer = await completions.create(asked);
    const { content, annotations = [] } = answer.choices[0]?.message ?? {};
    return chatAnswer(content ?? "", annotations, answer);
  }
  const chunks = await Array.fromAsync(await completions.create({ ...asked, stream: true }));
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta as Loose));
  const text = deltas.map(({ content }) => content ?? "").join("");
  return chatAnswer(
    text,
    deltas.flatMap(({ annotations = [] }) => annotations),
    chunks,
  );
}

function chatAnswer(text: string, annotations: OpenAI.ChatCompletionMessage.Annotation[], all: unknown): Answered {
  const found = annotations.map(({ url_citation: { start_index, end_index, url, title } }) => ({
    passage: sliced(text, start_index, end_index),
    ...{ url, title },
  }));
  return { text, found, all: JSON.stringify(all) };
}

async function byResponses(group: Group, model: string, stream: boolean): Promise<Answered> {
  const { responses } = openai(group);
  const asked = { model, input: "Where?", store: false };
  const answer = stream ? await responses.stream(asked).finalResponse() : await responses.create(asked);
  const parts = answer.output.flatMap((item) => (item.type === "message" ? item.content : []));
  const found = parts.flatMap((part) =>
    part.type !== "output_text"
      ? []
      : part.annotations.flatMap((annotation) =>
          annotation.type !== "url_citation"
            ? []
            : [{ passage: sliced(part.text, annotation.start_index, annotation.end_index), url: annotation.url, title: annotation.title }],
        ),
  );
  return { text: answer.output_text, found, all: JSON.stringify(answer) };
}

async function byMessages(group: Group, model: string, stream: boolean): Promise<Answered> {
  const { messages } = anthropic(group);
  const asked = { model, max_tokens: 100, messages: [{ role: "user" as const, content: "Where?" }] };
  const answer = stream ? await messages.stream(asked).finalMessage() : await messages.create(asked);
  const blocks = answer.content.filter((block) => block.type === "text");
  const found = blocks.flatMap(({ text, citations }) =>
    (citations ?? []).flatMap((citation) =>
      citation.type === "web_search_result_location" ? [{ passage: text, url: citation.url, title: citation.title }] : [],
    ),
  );
  return { text: blocks.map(({ text }) => text).join(""), found, all: JSON.stringify(answer) };
}

async function byGemini(group: Group, model: string, stream: boolean): Promise<Answered> {
  const { models } = new GoogleGenAI({ apiKey: keys[group] ?? "", httpOptions: { baseUrl: world.gateway.runtimeUrl } });
  const asked = { model, contents: "Where?" };
  const answers: GenerateContentResponse[] = stream
    ? await Array.fromAsync(await models.generateContentStream(asked))
    : [await models.generateContent(asked)];
  const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []).map(({ text }) => text ?? "");
  const { groundingSupports = [], groundingChunks = [] } = answers.at(-1)?.candidates?.[0]?.groundingMetadata ?? {};
  const found = groundingSupports.flatMap(({ segment, groundingChunkIndices = [] }) =>
    groundingChunkIndices.flatMap((index) => {
      const { web } = groundingChunks[index] ?? {};
      const bytes = Buffer.from(stream ? parts.join("") : (parts[segment?.partIndex ?? 0] ?? ""));
      const passage = bytes.subarray(segment?.startIndex ?? 0, segment?.endIndex).toString();
      return web === undefined ? [] : [{ passage, url: web.uri, title: web.title }];
    }),
  );
  return { text: parts.join(""), found, all: JSON.stringify(answers) };
}

const CLIENTS = { chat: byChat, responses: byResponses, messages: byMessages, gemini: byGemini } as const;
const CALLS = Object.entries(CLIENTS).flatMap(([client, ask]) =>
  PROVIDERS.flatMap(([model]) => [false, true].map((stream) => [client, model, stream, ask] as const)),
);

/** Anthropic's format cites whole blocks, and a stream sends its texts before their sources are known. */
function passageIn({ before, passage, after }: Cited, client: string, model: string, stream: boolean): string {
  if (client !== "messages" || !stream || model === "messages" || model === "converse") return passage;
  return model === "responses" ? before + passage : before + passage + after;
}

describe("what a vendor cites", () => {
  test.each(CALLS)("is read by the client of %s from a model of %s (streamed: %p)", async (client, model, stream, ask) => {
    cited = CITED;
    const { text, found } = await ask("open", model, stream);
    expect(text).toBe(said(CITED));
    expect(found).toEqual([{ passage: passageIn(CITED, client, model, stream), url: PAGE_URL, title: CITED.title }]);
  });

  test.each(CALLS)(
    "is redacted like the text for the client of %s from a model of %s (streamed: %p)",
    async (client, model, stream, ask) => {
      cited = HIDDEN;
      const { text, found, all } = await ask("guarded", model, stream);
      expect(all).not.toContain(MAIL);
      expect(text).toBe(said(REDACTED));
      expect(found).toEqual([{ passage: passageIn(REDACTED, client, model, stream), url: PAGE_URL, title: REDACTED.title }]);
    },
  );
});

test.each([false, true])("an AI SDK client reads another vendor's sources in Anthropic's format (streamed: %p)", async (stream) => {
  cited = CITED;
  const model = createAnthropic({ baseURL: `${world.gateway.runtimeUrl}/v1`, apiKey: keys.open ?? "" })("gemini");
  const asked = { model, prompt: "Where?", maxOutputTokens: 100 };
  const { text, sources } = stream ? streamText(asked) : await generateText(asked);
  expect(await text).toBe(said(CITED));
  expect(await sources).toMatchObject([{ sourceType: "url", url: PAGE_URL, title: CITED.title }]);
});

test.each([false, true])("a Claude model gets an answer back in which another vendor cited a page (streamed: %p)", async (stream) => {
  cited = CITED;
  const { messages } = anthropic("open");
  const question = { role: "user" as const, content: "Where?" };
  const first = { model: "gemini", max_tokens: 100, messages: [question] };
  const { content } = stream ? await messages.stream(first).finalMessage() : await messages.create(first);
  const next = {
    ...first,
    messages: [question, { role: "assistant" as const, content: content as Anthropic.ContentBlockParam[] }, question],
  };
  expect((await messages.create({ ...next, model: "messages" })).content).toHaveLength(3);
  expect(vendor.seen.at(-1)?.body).not.toContain("encrypted_index");
  for (const model of ["chat", "responses", "converse"]) {
    const answer = await messages.create({ ...next, model }).asResponse();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-gw-dropped-parameters")).toContain("messages[].content[].citations");
  }
});

test("other vendors get an answer with annotations back", async () => {
  cited = CITED;
  const { chat, responses } = openai("open");
  const question = { role: "user" as const, content: "Where?" };
  const answered = (await chat.completions.create({ model: "gemini", messages: [question] })).choices[0]?.message;
  const { output } = await responses.create({ model: "gemini", input: [question], store: false });
  for (const model of ["messages", "gemini", "converse"]) {
    const asChat = await chat.completions
      .create({ model, messages: [question, answered as OpenAI.ChatCompletionMessage, question] })
      .asResponse();
    expect(asChat.headers.get("x-gw-dropped-parameters")).toContain("messages[].annotations");
    const input = [question, ...(output as OpenAI.Responses.ResponseInput), question];
    const asResponse = await responses.create({ model, input, store: false }).asResponse();
    expect(asResponse.headers.get("x-gw-dropped-parameters")).toContain("input[].content[].annotations");
  }
});
