import { ArrayCutter, elementData } from "../../../server/wire/gemini/array-cutter.ts";
import { GeminiArrayStream, GeminiStream } from "../../../server/wire/gemini/gemini-stream.ts";
import { MessagesStream } from "../../../server/wire/messages/messages-stream.ts";
import { ChatStream } from "../../../server/wire/openai/chat/stream.ts";
import { ResponsesStream } from "../../../server/wire/responses/responses-stream.ts";
import { frameData } from "../../../server/wire/streams/sse-data.ts";
import { FrameCutter } from "../../../server/wire/streams/sse-frames.ts";
import type { StreamCodec } from "../../../server/wire/streams/stream.ts";

/** Part of an answer, in the pieces a vendor sends. */
export type Item =
  | { readonly kind: "text"; readonly pieces: readonly string[] }
  | { readonly kind: "call"; readonly name: string; readonly pieces: readonly string[] };

interface Scripted {
  readonly texts: "chat" | "responses" | "messages" | "gemini";
  readonly framing: "events" | "array";
  /** Whether each part ends before the next begins. */
  readonly ordered: boolean;
}

export const FORMATS = {
  chat: { texts: "chat", framing: "events", ordered: false },
  responses: { texts: "responses", framing: "events", ordered: true },
  messages: { texts: "messages", framing: "events", ordered: true },
  gemini: { texts: "gemini", framing: "events", ordered: true },
  "gemini array": { texts: "gemini", framing: "array", ordered: true },
} as const satisfies Record<string, Scripted>;
export type FormatName = keyof typeof FORMATS;

type Loose = Record<string, any>;

export function streamOf(format: FormatName): StreamCodec {
  switch (format) {
    case "chat":
      return new ChatStream({ hideUsage: false });
    case "responses":
      return new ResponsesStream();
    case "messages":
      return new MessagesStream();
    case "gemini":
      return new GeminiStream();
    case "gemini array":
      return new GeminiArrayStream();
  }
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: Loose) => `event: ${value.type}\n${data(value)}`;

/** The frames of an answer in the vendor's format, with 7 output tokens. */
export function framesOf(format: FormatName, items: readonly Item[]): string[] {
  switch (format) {
    case "chat":
      return chatFrames(items);
    case "responses":
      return responsesFrames(items);
    case "messages":
      return messagesFrames(items);
    case "gemini":
      return geminiChunks(items).map(data);
    case "gemini array":
      return [...geminiChunks(items).map((chunk, i) => `${i === 0 ? "[" : ",\r\n"}${JSON.stringify(chunk)}`), "\n]"];
  }
}

function chatFrames(items: readonly Item[]): string[] {
  const chunk = (choices: unknown[], usage?: unknown) =>
    data({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...(usage === undefined ? {} : { usage }) });
  const piece = (delta: unknown, finish: string | null = null) => chunk([{ index: 0, delta, finish_reason: finish }]);
  let calls = 0;
  const said = items.flatMap((item) => {
    if (item.kind === "text") return item.pieces.map((content) => piece({ content }));
    const index = calls++;
    return [
      piece({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name: item.name, arguments: "" } }] }),
      ...item.pieces.map((text) => piece({ tool_calls: [{ index, function: { arguments: text } }] })),
    ];
  });
  return [
    piece({ role: "assistant", content: "" }),
    ...said,
    piece({}, calls > 0 ? "tool_calls" : "stop"),
    chunk([], { prompt_tokens: 3, completion_tokens: 7, total_tokens: 10 }),
    "data: [DONE]\n\n",
  ];
}

function responsesFrames(items: readonly Item[]): string[] {
  const output = items.map((item, i): Loose => {
    const all = item.pieces.join("");
    if (item.kind === "text")
      return {
        type: "message",
        id: `msg_${i}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: all, annotations: [] }],
      };
    return { type: "function_call", id: `fc_${i}`, call_id: `call_${i}`, name: item.name, arguments: all, status: "completed" };
  });
  const told = items.flatMap((item, i): Loose[] => {
    const done = output[i] as Loose;
    const place = { item_id: done.id, output_index: i };
    if (item.kind === "text") {
      return [
        { type: "response.output_item.added", output_index: i, item: { ...done, status: "in_progress", content: [] } },
        { type: "response.content_part.added", ...place, content_index: 0, part: { type: "output_text", text: "", annotations: [] } },
        ...item.pieces.map((delta) => ({ type: "response.output_text.delta", ...place, content_index: 0, delta })),
        { type: "response.output_text.done", ...place, content_index: 0, text: item.pieces.join("") },
        { type: "response.output_item.done", output_index: i, item: done },
      ];
    }
    return [
      { type: "response.output_item.added", output_index: i, item: { ...done, status: "in_progress", arguments: "" } },
      ...item.pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...place, delta })),
      { type: "response.function_call_arguments.done", ...place, arguments: done.arguments },
      { type: "response.output_item.done", output_index: i, item: done },
    ];
  });
  const head = { id: "resp", object: "response", model: "m" };
  const all = [
    { type: "response.created", response: { ...head, status: "in_progress", output: [] } },
    ...told,
    {
      type: "response.completed",
      response: { ...head, status: "completed", output, usage: { input_tokens: 3, output_tokens: 7, total_tokens: 10 } },
    },
  ];
  return all.map((each, sequence_number) => event({ ...each, sequence_number }));
}

function messagesFrames(items: readonly Item[]): string[] {
  const blocks = items.flatMap((item, index): Loose[] => {
    const start =
      item.kind === "text" ? { type: "text", text: "" } : { type: "tool_use", id: `toolu_${index}`, name: item.name, input: {} };
    const deltas = item.pieces.map((text) =>
      item.kind === "text" ? { type: "text_delta", text } : { type: "input_json_delta", partial_json: text },
    );
    return [
      { type: "content_block_start", index, content_block: start },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
  });
  const message = {
    id: "msg",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 1 },
  };
  return [
    { type: "message_start", message },
    { type: "ping" },
    ...blocks,
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ].map(event);
}

function geminiChunks(items: readonly Item[]): Loose[] {
  const chunk = (part: Loose, finish?: string) => ({
    candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...(finish === undefined ? {} : { finishReason: finish }) }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 7, totalTokenCount: 10 },
    responseId: "r",
  });
  const said = items.flatMap((item) =>
    item.kind === "text"
      ? item.pieces.map((text) => chunk({ text }))
      : [chunk({ functionCall: { name: item.name, args: JSON.parse(item.pieces.join("")) as Loose } })],
  );
  return [...said, chunk({ text: "" }, "STOP")];
}

/** All text in the complete frames of `wire`. */
export function textsIn(format: FormatName, wire: string): string {
  const bytes = new TextEncoder().encode(wire);
  const frames =
    FORMATS[format].framing === "array"
      ? new ArrayCutter().push(bytes).map((cut) => elementData(new TextDecoder().decode(cut)))
      : new FrameCutter().push(bytes).map((cut) => frameData(new TextDecoder().decode(cut)));
  return frames.map((frame) => (frame === null || frame === "[DONE]" ? "" : textIn(JSON.parse(frame) as Loose))).join("");
}

function textIn(frame: Loose): string {
  if (frame.type === "response.output_text.delta") return frame.delta as string;
  if (frame.type === "content_block_delta") return (frame.delta.text as string | undefined) ?? "";
  const candidate = frame.candidates?.[0]?.content?.parts?.[0]?.text ?? frame.choices?.[0]?.delta?.content;
  return typeof candidate === "string" ? candidate : "";
}
