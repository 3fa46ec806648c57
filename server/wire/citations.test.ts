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

const reply = (text: string, citations: readonly Citation[]): ConversationReply => ({
  id: "r1",
  candidates: [{ index: 0, parts: [{ kind: "text", text, citations }], stop: "end", stopSequence: null, stopDetail: null }],
  usage: null,
});
const page = (start: number, end: number, url: string): Citation => ({
  start,
  end,
  quote: null,
  source: { kind: "web", url, title: null },
});
const citationsIn = (codec: ProviderCodec, body: JsonObject) =>
  codec
    .readReply(body)
    ?.candidates.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.kind === "text"
          ? (part.citations ?? []).map(({ start, end, source }) => ({ passage: part.text.slice(start, end), source }))
          : [],
      ),
    );
const grounded = (parts: readonly JsonObject[], metadata: JsonObject) => ({
  candidates: [{ content: { role: "model", parts: [...parts] }, finishReason: "STOP", ...metadata }],
});

describe("the blocks of Anthropic's format", () => {
  const blocksOf = (text: string, ...citations: Citation[]) => {
    const { content } = messagesCodec.writeReply(reply(text, citations), context) as { content: any[] };
    return content.map(({ text: block, citations: cited = [] }) => [block, ...cited.map(({ url }: any) => url)]);
  };

  test("are cut where cited passages begin and end", () => {
    expect(blocksOf("One. Two. Three.", page(0, 4, "a"), page(10, 16, "b"))).toEqual([["One.", "a"], [" Two. "], ["Three.", "b"]]);
    expect(blocksOf("One. Two. Three.", page(0, 9, "a"), page(5, 16, "b"))).toEqual([
      ["One. ", "a"],
      ["Two.", "a", "b"],
      [" Three.", "b"],
    ]);
    expect(blocksOf("One.", page(0, 4, "a"), page(0, 4, "b"))).toEqual([["One.", "a", "b"]]);
  });

  test("are never blank, because a client could not send them back", () => {
    expect(blocksOf("One. Two.", page(0, 4, "a"), page(5, 9, "b"))).toEqual([
      ["One. ", "a"],
      ["Two.", "b"],
    ]);
    expect(blocksOf("  One.", page(2, 6, "a"))).toEqual([["  One.", "a"]]);
  });

  test("hold what is cited at a point in their end", () => {
    expect(blocksOf("One. Two.", page(4, 4, "a"))).toEqual([["One.", "a"], [" Two."]]);
  });
});

describe("Google's grounding", () => {
  const chunks = (...titles: string[]) => titles.map((title) => ({ web: { uri: `https://${title}.example`, title } }));
  const source = (title: string) => ({ kind: "web", url: `https://${title}.example`, title }) as const;

  test("counts in the part that it names, and else in the whole text", () => {
    const parts = [{ text: "Hm.", thought: true }, { text: "Ja, wüst. " }, { text: "Grün." }];
    const groundingSupports = [
      { segment: { partIndex: 2, startIndex: 0, endIndex: 6, text: "Grün." }, groundingChunkIndices: [0] },
      { segment: { startIndex: 11, endIndex: 17, text: "Grün." }, groundingChunkIndices: [1, 7] },
    ];
    const body = grounded(parts, { groundingMetadata: { groundingChunks: chunks("a", "b"), groundingSupports } });
    expect(citationsIn(geminiCodec, body)).toEqual(["a", "b"].map((title) => ({ passage: "Grün.", source: source(title) })));
  });

  test("is found by its text if a server counts otherwise", () => {
    const segment = { startIndex: 3, endIndex: 9, text: "Grün." };
    const groundingSupports = [{ segment, groundingChunkIndices: [0] }];
    const body = grounded([{ text: "Öd. Grün." }], { groundingMetadata: { groundingChunks: chunks("a"), groundingSupports } });
    expect(citationsIn(geminiCodec, body)).toEqual([{ passage: "Grün.", source: source("a") }]);
  });

  test("that names no passages concerns all of the text", () => {
    const body = grounded([{ text: "Grün." }], { groundingMetadata: { groundingChunks: chunks("a") } });
    expect(citationsIn(geminiCodec, body)).toEqual([{ passage: "Grün.", source: source("a") }]);
  });

  test.each(["citations", "citationSources"])("is read of recited texts, too (%s)", (name) => {
    const metadata = {
      citationMetadata: { [name]: [{ startIndex: 0, endIndex: 6, uri: "https://a.example", title: "a", license: "mit" }] },
    };
    expect(citationsIn(geminiCodec, grounded([{ text: "Grün. Rot." }], metadata))).toEqual([{ passage: "Grün.", source: source("a") }]);
  });

  test("of retrieved documents becomes a file's citation", () => {
    const retrievedContext = { documentName: "stores/1/documents/2", title: "Colours", text: "Green is a colour." };
    const groundingSupports = [{ segment: { endIndex: 6, text: "Grün." }, groundingChunkIndices: [0] }];
    const body = grounded([{ text: "Grün. Rot." }], { groundingMetadata: { groundingChunks: [{ retrievedContext }], groundingSupports } });
    expect(translated(geminiCodec, responsesCodec, body).output[0].content[0].annotations).toEqual([
      { type: "file_citation", file_id: "stores/1/documents/2", filename: "Colours", index: 5 },
    ]);
    expect(translated(geminiCodec, chatCodec, body).choices[0].message).not.toHaveProperty("annotations");
    expect(translated(geminiCodec, messagesCodec, body).content[0]).toEqual({ type: "text", text: "Grün. Rot." });
  });
});

describe("OpenAI's annotations", () => {
  test("of files are read, and other kinds are left out", () => {
    const text = "See the file.";
    const annotations = [
      { type: "file_citation", file_id: "file-1", filename: "a.pdf", index: 12 },
      { type: "container_file_citation", container_id: "c", file_id: "file-2", filename: "b.csv", start_index: 8, end_index: 12 },
      { type: "file_path", file_id: "file-3", index: 0 },
      { type: "url_citation", title: "no address", start_index: 0, end_index: 3 },
    ];
    const body = { id: "r", status: "completed", output: [{ type: "message", content: [{ type: "output_text", text, annotations }] }] };
    const document = (id: string, title: string) => ({ kind: "document", id, title, place: null }) as const;
    expect(citationsIn(responsesCodec, body)).toEqual([
      { passage: "", source: document("file-1", "a.pdf") },
      { passage: "file", source: document("file-2", "b.csv") },
    ]);
  });

  test("without valid positions concern all of the text", () => {
    const annotations = [
      { type: "url_citation", url_citation: { url: "https://a.example", title: "a" } },
      { type: "url_citation", url_citation: { url: "https://b.example", title: "b", start_index: 2, end_index: 400 } },
    ];
    const body = { id: "c", choices: [{ index: 0, message: { role: "assistant", content: "Öd.", annotations } }] };
    expect(citationsIn(chatCodec, body)?.map(({ passage }) => passage)).toEqual(["Öd.", "Öd."]);
  });

  test("count in the whole content, whose texts Anthropic splits into blocks", () => {
    const { choices } = translated(messagesCodec, chatCodec, citedAnswer("messages"));
    expect(choices[0].message.annotations).toHaveLength(1);
    expect(choices[0].message.annotations[0].url_citation.start_index).toBe([...CITED.before].length);
  });
});

test("more citations than any answer has are left out of a stream", () => {
  const events = eventsOfReply(
    reply(
      "One.",
      Array.from({ length: 3_000 }, (_, i) => page(0, 4, `https://${i}.example`)),
    ),
  );
  const reader = { push: () => events, end: () => ({ events: [], complete: true }) };
  const out = utf8.decode(new TranslatedStream(reader, chatCodec.streamWriter(context), null).push(new Uint8Array()) ?? new Uint8Array());
  expect(out.match(/"url_citation":\{/g)).toHaveLength(1_000);
});

test("citations are kept in the events of an answer", () => {
  const whole = reply("One. Two.", [page(0, 4, "a"), page(5, 9, "b")]);
  expect(replyOfEvents(eventsOfReply(whole))).toEqual(whole);
});

describe("an answer with citations in the next request", () => {
  const hello = { role: "user", content: "And then?" };
  const turnsOf = (codec: CallerCodec, body: JsonObject) => {
    const read = codec.readRequest({ model: "m", ...body });
    if ("unsupported" in read) throw new Error(JSON.stringify(read.unsupported));
    const [turn] = read.request.turns;
    return { text: turn?.parts.map((part) => ("text" in part ? part.text : "")).join(""), dropped: read.dropped };
  };

  test("is read by every surface, and what the next vendor cannot get is reported", () => {
    const { message } = citedAnswer("chat").choices[0];
    expect(turnsOf(chatCodec, { messages: [message, hello] })).toEqual({ text: said(CITED), dropped: ["messages[].annotations"] });
    const { output } = citedAnswer("responses");
    expect(turnsOf(responsesCodec, { input: [...output, hello] })).toEqual({
      text: said(CITED),
      dropped: ["input[].content[].annotations"],
    });
    const { content } = citedAnswer("messages");
    const messages = [{ role: "assistant", content }, hello];
    expect(turnsOf(messagesCodec, { messages })).toEqual({ text: said(CITED), dropped: ["messages[].content[].citations"] });
  });

  test("goes to Claude without what the gateway wrote for another vendor", () => {
    const { content } = translated(geminiCodec, messagesCodec, citedAnswer("gemini"));
    expect(historyForClaude([{ role: "assistant", content }, hello], "claude-sonnet-5")).toEqual([
      { role: "assistant", content: [CITED.before, CITED.passage, CITED.after].map((text) => ({ type: "text", text })) },
      hello,
    ]);
    expect(historyForClaude([{ role: "assistant", content: citedAnswer("messages").content }, hello], "claude-sonnet-5")).toBeNull();
  });
});

describe("citations that Anthropic's caller asks for", () => {
  const source = { type: "base64", media_type: "application/pdf", data: "JVBERi0=" };
  const asked = (document: JsonObject) => {
    const content = [
      { type: "document", source, title: "atlas.pdf", ...document },
      { type: "text", text: "Where?" },
    ];
    const read = messagesCodec.readRequest({ model: "m", max_tokens: 9, messages: [{ role: "user", content }] });
    if ("unsupported" in read) throw new Error(JSON.stringify(read.unsupported));
    return read.request;
  };
  const target = (name: string) => ({ name, maxOutputTokens: null });

  test("are asked of a Claude at Bedrock", () => {
    const written = converseCodec.writeRequest(
      asked({ citations: { enabled: true } }),
      target("anthropic.claude-sonnet-4-5-20250929-v1:0"),
    );
    const [message] = ("body" in written ? written.body.messages : []) as any[];
    expect(message.content[0]).toEqual({
      document: { format: "pdf", name: "atlas", source: { bytes: "JVBERi0=" }, citations: { enabled: true } },
    });
  });

  test.each([
    ["chat", chatCodec, "gpt-6"],
    ["responses", responsesCodec, "gpt-6"],
    ["gemini", geminiCodec, "gemini-3-pro"],
    ["converse", converseCodec, "amazon.nova-pro-v1:0"],
  ] as const)("are refused by name where a model cannot be asked (%s)", (_name, codec, model) => {
    const written = codec.writeRequest(asked({ citations: { enabled: true } }), target(model));
    expect("unsupported" in written ? written.unsupported : []).toEqual([
      { feature: "citations", message: "citations cannot be asked of this model" },
    ]);
    expect(codec.writeRequest(asked({ citations: { enabled: false } }), target(model))).toHaveProperty("body");
  });
});
