import { describe, expect, test } from "bun:test";
import { CITED, citedAnswer, citedStream, type CitingFormat, DOCUMENT, PAGE_URL, said } from "../../tests/support/vendors/cited-answers.ts";
import type { JsonObject } from "../kernel/json-value.ts";
import type { CallerCodec, ProviderCodec, ReplyContext } from "./conversation/codec.ts";
import type { Citation } from "./conversation/citations.ts";
import type { ConversationReply } from "./conversation/reply.ts";
import { eventsOfReply, replyOfEvents } from "./conversation/reply-events.ts";
import { TranslatedStream } from "./conversation/translated-stream.ts";
import { converseCodec } from "./converse/converse-codec.ts";
import { geminiCodec } from "./gemini/gemini-codec.ts";
import { historyForClaude } from "./messages/claude-history.ts";
import { messagesCodec } from "./messages/messages-codec.ts";
import { chatCodec } from "./openai/chat/codec.ts";
import { responsesCodec } from "./responses/responses-codec.ts";
import { frameData } from "./streams/sse-data.ts";

/** What vendors cite is carried over to the caller's format, with positions as that format counts them. */
const PROVIDERS: Readonly<Record<CitingFormat, ProviderCodec>> = {
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  gemini: geminiCodec,
  converse: converseCodec,
};
const CALLERS = { chat: chatCodec, responses: responsesCodec, messages: messagesCodec, gemini: geminiCodec } as const;
type CallerName = keyof typeof CALLERS;

const context: ReplyContext = { callId: "01A", model: "m", created: 1, request: {}, includeUsage: false };
const utf8 = new TextDecoder();

/** A passage as a caller's client finds it, with the address of its source. */
interface Found {
  readonly passage: string;
  readonly source: string;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
/** Text between positions counted in code points, as Python slices it. */
const sliced = (text: string, start: number, end: number) => [...text].slice(start, end).join("");
const slicedBytes = (text: string, start: number, end: number) => utf8.decode(bytesOf(text).slice(start, end));

/** What the caller's client reads in a whole answer. */
const READ: Readonly<Record<CallerName, (answer: any) => { text: string; found: Found[] }>> = {
  chat({ choices: [{ message }] }) {
    const found = (message.annotations ?? []).map(({ url_citation: { start_index, end_index, url } }: any) => ({
      passage: sliced(message.content, start_index, end_index),
      source: url,
    }));
    return { text: message.content, found };
  },
  responses({ output }) {
    const parts = output.flatMap(({ content }: any) => content);
    return {
      text: parts.map(({ text }: any) => text).join(""),
      found: parts.flatMap(({ text, annotations }: any) =>
        annotations.map(({ start_index, end_index, url }: any) => ({ passage: sliced(text, start_index, end_index), source: url })),
      ),
    };
  },
  messages({ content }) {
    return {
      text: content.map(({ text }: any) => text).join(""),
      found: content.flatMap(({ text, citations = [] }: any) =>
        citations.map(({ url, document_title }: any) => ({ passage: text, source: url ?? document_title })),
      ),
    };
  },
  gemini({ candidates: [{ content, groundingMetadata }] }) {
    const { groundingSupports = [], groundingChunks = [] } = groundingMetadata ?? {};
    return {
      text: content.parts.map(({ text }: any) => text).join(""),
      found: groundingSupports.flatMap(({ segment, groundingChunkIndices }: any) =>
        groundingChunkIndices.map((index: number) => {
          const passage = slicedBytes(content.parts[segment.partIndex ?? 0].text, segment.startIndex, segment.endIndex);
          expect(passage).toBe(segment.text);
          return { passage, source: groundingChunks[index].web?.uri ?? groundingChunks[index].retrievedContext.title };
        }),
      ),
    };
  },
};

function translated(provider: ProviderCodec, caller: CallerCodec, body: JsonObject): any {
  const reply = provider.readReply(body);
  if (reply === null) throw new Error("unread");
  return caller.writeReply(reply, context);
}

/** The events written for a caller; the provider's bytes are cut into pieces of `size`. */
function streamed(provider: ProviderCodec, caller: CallerCodec, bytes: Uint8Array, size: number): any[] {
  const stream = new TranslatedStream(provider.streamReader(), caller.streamWriter(context), null);
  let out = "";
  for (let at = 0; at < bytes.length; at += size) out += utf8.decode(stream.push(bytes.slice(at, at + size)) ?? new Uint8Array());
  const { last, complete } = stream.end();
  expect(complete).toBe(true);
  return (out + utf8.decode(last ?? new Uint8Array()))
    .split(/\r?\n\r?\n/)
    .flatMap((frame) => frameData(frame) ?? [])
    .filter((data) => data !== "[DONE]")
    .map((data) => JSON.parse(data));
}

/** Assembles the whole answer from a caller's stream, as the official clients do. */
const ASSEMBLED: Readonly<Record<CallerName, (events: any[]) => any>> = {
  chat(events) {
    const message: any = { content: "", annotations: [] };
    for (const { choices } of events)
      for (const { delta } of choices) {
        message.content += delta.content ?? "";
        message.annotations.push(...(delta.annotations ?? []));
      }
    return { choices: [{ message }] };
  },
  responses: (events) => events.find(({ type }) => type === "response.completed").response,
  messages(events) {
    const content: any[] = [];
    for (const { type, index, content_block, delta } of events) {
      if (type === "content_block_start") content[index] = { ...content_block };
      else if (delta?.type === "text_delta") content[index].text += delta.text;
      else if (delta?.type === "citations_delta") content[index].citations = [...(content[index].citations ?? []), delta.citation];
    }
    return { content };
  },
  gemini(events) {
    const text = events.flatMap(({ candidates }) => candidates[0]?.content?.parts ?? []).map((part: any) => part.text);
    return { candidates: [{ ...events.at(-1).candidates[0], content: { parts: [{ text: text.join("") }] } }] };
  },
};

const pairs = (Object.keys(PROVIDERS) as CitingFormat[]).flatMap((from) =>
  (Object.keys(CALLERS) as CallerName[]).filter((to) => to !== from).map((to) => [from, to] as const),
);
const citesDocuments = (format: CitingFormat) => format === "messages" || format === "converse";
/** OpenAI's formats have no place for a document of the request. */
const sourcesOf = (from: CitingFormat, to: CallerName) =>
  citesDocuments(from) && (to === "messages" || to === "gemini") ? [PAGE_URL, DOCUMENT.title] : [PAGE_URL];

describe("citations of a whole answer", () => {
  test.each(pairs)("from %s to %s concern the same passage", (from, to) => {
    const { text, found } = READ[to](translated(PROVIDERS[from], CALLERS[to], citedAnswer(from)));
    expect(text).toBe(said(CITED));
    expect(found).toEqual(sourcesOf(from, to).map((source) => ({ passage: CITED.passage, source })));
  });
});

describe("citations of a stream", () => {
  test.each(pairs)("from %s to %s concern the same passage, however the stream is cut", (from, to) => {
    for (const size of [7, 100_000]) {
      const { text, found } = READ[to](ASSEMBLED[to](streamed(PROVIDERS[from], CALLERS[to], citedStream(from), size)));
      expect(text).toBe(said(CITED));
      // Text is sent before its sources are known, so a block of Anthropic's holds the passage and what was sent before it.
      const passage =
        to !== "messages" || from === "converse" ? CITED.passage : from === "responses" ? CITED.before + CITED.passage : said(CITED);
      expect(found).toEqual(sourcesOf(from, to).map((source) => ({ passage, source })));
    }
  });

  test("of a response are events of their own, and repeated in the finished item", () => {
    const events = streamed(geminiCodec, responsesCodec, citedStream("gemini"), 50);
    const added = events.find(({ type }) => type === "response.output_text.annotation.added");
    expect(added).toMatchObject({
      output_index: 0,
      content_index: 0,
      annotation_index: 0,
      annotation: { type: "url_citation", url: PAGE_URL },
    });
    const item = events.find(({ type }) => type === "response.output_item.done").item;
    expect(item.content[0].annotations).toEqual([added.annotation]);
    expect(added.item_id).toBe(item.id);
    const types = events.map(({ type }) => type);
    expect(types.indexOf("response.output_text.done")).toBeGreaterThan(types.indexOf(added.type));
  });
});
