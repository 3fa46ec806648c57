import { eventStreamMessage } from "../formats/provider-answers.ts";
import type { Loose } from "./loose.ts";

/** An answer with a cited passage, and what it cites. */
export interface Cited {
  readonly before: string;
  readonly passage: string;
  readonly after: string;
  readonly title: string;
  /** The words of the source. */
  readonly quote: string;
}

/** With characters that formats count differently. */
export const CITED: Cited = {
  before: "🏔 Grüezi: ",
  passage: "Zürich lies on a lake.",
  after: " It is déep.",
  title: "Lakes",
  quote: "Zürich is at the lake.",
};
export const said = ({ before, passage, after }: Cited): string => before + passage + after;
export const PAGE_URL = "https://lakes.example/zurich";
export const DOCUMENT = { title: "atlas.pdf", index: 0, start: 3, end: 4 };

export type CitingFormat = "chat" | "responses" | "messages" | "gemini" | "converse";

const codePoints = (text: string) => [...text].length;
const bytes = (text: string) => new TextEncoder().encode(text).byteLength;

/** What each vendor reports of the sources. */
function sourcesOf({ before, passage, title, quote }: Cited) {
  const annotated = { start_index: codePoints(before), end_index: codePoints(before + passage), title, url: PAGE_URL };
  const grounding = {
    webSearchQueries: ["lake of zurich"],
    searchEntryPoint: { renderedContent: "<p>lake of zurich</p>" },
    groundingChunks: [{ web: { uri: PAGE_URL, title, domain: "lakes.example" } }],
    groundingSupports: [
      {
        segment: { startIndex: bytes(before), endIndex: bytes(before + passage), text: passage },
        groundingChunkIndices: [0],
        confidenceScores: [0.9],
      },
    ],
  };
  const webLocation = { type: "web_search_result_location", cited_text: quote, encrypted_index: "Eo8B", title, url: PAGE_URL };
  const pageLocation = {
    type: "page_location",
    cited_text: quote,
    document_index: DOCUMENT.index,
    document_title: DOCUMENT.title,
    file_id: null,
    start_page_number: DOCUMENT.start,
    end_page_number: DOCUMENT.end,
  };
  const atPage = { documentPage: { documentIndex: DOCUMENT.index, start: DOCUMENT.start, end: DOCUMENT.end } };
  /** What the vendors with blocks cite: the page and, where they know documents, one of the request. */
  const inMessages = [webLocation, pageLocation];
  const inConverse = [
    { title, sourceContent: [{ text: quote }], location: { web: { url: PAGE_URL, domain: "lakes.example" } } },
    { title: DOCUMENT.title, sourceContent: [{ text: quote }], location: atPage },
  ];

  return { annotated, grounding, inMessages, inConverse, urlCitation: { type: "url_citation", ...annotated } };
}

const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_reason: "end_turn", stop_sequence: null };
const used = { input_tokens: 5, output_tokens: 5 };
const chatUsage = { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 };
const responseUsage = { ...used, total_tokens: 10 };
const geminiUsage = { promptTokenCount: 5, candidatesTokenCount: 5, totalTokenCount: 10 };
const itemOf = (cited: Cited) => ({
  ...{ id: "msg_1", type: "message", role: "assistant", status: "completed" },
  content: [{ type: "output_text", text: said(cited), annotations: [sourcesOf(cited).urlCitation], logprobs: [] }],
});
const response = (status: string, output: readonly object[]) => ({
  ...{ id: "resp_1", object: "response", created_at: 1, model: "m", status, output },
  usage: status === "completed" ? responseUsage : null,
});
const completion = { id: "c1", created: 1, model: "m" };

/** A whole answer as each vendor documents it. */
export function citedAnswer(format: CitingFormat, cited = CITED): Loose {
  const { annotated, grounding, inMessages, inConverse } = sourcesOf(cited);
  const { before, passage, after } = cited;
  switch (format) {
    case "chat": {
      const answered = {
        role: "assistant",
        content: said(cited),
        refusal: null,
        annotations: [{ type: "url_citation", url_citation: annotated }],
      };
      return {
        ...completion,
        object: "chat.completion",
        choices: [{ index: 0, message: answered, finish_reason: "stop" }],
        usage: chatUsage,
      };
    }
    case "responses":
      return response("completed", [itemOf(cited)]);
    case "messages":
      return {
        ...message,
        content: [
          { type: "text", text: before },
          { type: "text", text: passage, citations: inMessages },
          { type: "text", text: after },
        ],
        usage: used,
      };
    case "gemini":
      return {
        candidates: [
          { content: { role: "model", parts: [{ text: said(cited) }] }, finishReason: "STOP", index: 0, groundingMetadata: grounding },
        ],
        usageMetadata: geminiUsage,
      };
    case "converse":
      return {
        output: {
          message: {
            role: "assistant",
            content: [{ text: before }, { citationsContent: { content: [{ text: passage }], citations: inConverse } }, { text: after }],
          },
        },
        stopReason: "end_turn",
        usage: { inputTokens: 5, outputTokens: 5, totalTokens: 10 },
      };
  }
}

const encoder = new TextEncoder();
const sse = (events: readonly Loose[], end = "") =>
  encoder.encode(events.map((event) => `${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`).join("") + end);

/** The same answer as a stream. */
export function citedStream(format: CitingFormat, cited = CITED): Uint8Array<ArrayBuffer> {
  const { annotated, grounding, inMessages, inConverse, urlCitation } = sourcesOf(cited);
  const { before, passage, after } = cited;
  const pieces = [before, passage.slice(0, 9), passage.slice(9), after];
  const item = itemOf(cited);
  switch (format) {
    case "chat": {
      const chunk = (delta: object, finish: string | null = null) => ({
        ...{ ...completion, object: "chat.completion.chunk" },
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
      const annotations = [{ type: "url_citation", url_citation: annotated }];
      const deltas = [{ role: "assistant", content: "" }, ...pieces.map((content) => ({ content })), { annotations }];
      return sse(
        [...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), { ...completion, choices: [], usage: chatUsage }],
        "data: [DONE]\n\n",
      );
    }
    case "responses": {
      const at = { item_id: item.id, output_index: 0, content_index: 0 };
      const part = item.content[0];
      return sse(
        [
          { type: "response.created", response: response("in_progress", []) },
          { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
          { type: "response.content_part.added", ...at, part: { ...part, text: "", annotations: [] } },
          ...pieces.slice(0, 3).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
          { type: "response.output_text.annotation.added", ...at, annotation_index: 0, annotation: urlCitation },
          { type: "response.output_text.delta", ...at, delta: after, logprobs: [] },
          { type: "response.output_text.done", ...at, text: said(cited), logprobs: [] },
          { type: "response.content_part.done", ...at, part },
          { type: "response.output_item.done", output_index: 0, item },
          { type: "response.completed", response: response("completed", [item]) },
        ].map((event, sequence_number) => ({ ...event, sequence_number })),
      );
    }
    case "messages": {
      const block = (index: number, text: string, citations: readonly object[]) => [
        { type: "content_block_start", index, content_block: { type: "text", text: "", ...(citations.length > 0 && { citations: [] }) } },
        ...citations.map((citation) => ({ type: "content_block_delta", index, delta: { type: "citations_delta", citation } })),
        ...[text.slice(0, 5), text.slice(5)].map((part) => ({
          type: "content_block_delta",
          index,
          delta: { type: "text_delta", text: part },
        })),
        { type: "content_block_stop", index },
      ];
      return sse([
        { type: "message_start", message: { ...message, stop_reason: null, content: [], usage: { ...used, output_tokens: 1 } } },
        ...block(0, before, []),
        ...block(1, passage, inMessages),
        ...block(2, after, []),
        { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
        { type: "message_stop" },
      ]);
    }
    case "gemini": {
      const body = (text: string, more: object = {}) => ({
        candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
        usageMetadata: geminiUsage,
      });
      return sse([...pieces.slice(0, 3).map((text) => body(text)), body(after, { finishReason: "STOP", groundingMetadata: grounding })]);
    }
    case "converse": {
      const delta = (contentBlockIndex: number, inner: object) =>
        eventStreamMessage("contentBlockDelta", { contentBlockIndex, delta: inner });
      const stop = (contentBlockIndex: number) => eventStreamMessage("contentBlockStop", { contentBlockIndex });
      return Buffer.concat([
        eventStreamMessage("messageStart", { role: "assistant" }),
        delta(0, { text: before }),
        stop(0),
        delta(1, { text: passage.slice(0, 9) }),
        delta(1, { text: passage.slice(9) }),
        ...inConverse.map((citation) => delta(1, { citation })),
        stop(1),
        delta(2, { text: after }),
        stop(2),
        eventStreamMessage("messageStop", { stopReason: "end_turn" }),
        eventStreamMessage("metadata", { usage: { inputTokens: 5, outputTokens: 5, totalTokens: 10 } }),
      ]);
    }
  }
}
