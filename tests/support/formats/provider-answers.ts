import { crc32 } from "node:zlib";

/** A provider's answer as frames; a non-streamed answer is one frame. */
export interface ProviderAnswer {
  readonly contentType: string;
  readonly frames: readonly Uint8Array[];
  /** Index of the frame from which on the answer is complete and only bookkeeping follows. */
  readonly endsAt: number;
}

const TEXT = "Grüße aus Übersee 👋";
const encoder = new TextEncoder();

/** Each vendor's answer at its own path and in its own format. `usage`: whether it reports usage. */
export function providerAnswer(path: string, body: string, usage: boolean): ProviderAnswer {
  const streamed = /"stream": ?true/.test(body);
  if (path.endsWith("/embeddings"))
    return json({
      object: "list",
      model: "m",
      data: [{ object: "embedding", index: 0, embedding: [0.5, -0.5] }],
      ...(usage ? { usage: { prompt_tokens: 3, total_tokens: 3 } } : {}),
    });
  if (path.endsWith(":batchEmbedContents")) return json({ embeddings: [{ values: [0.5, -0.5] }] });
  if (path.endsWith("/invoke")) return json({ embedding: [0.5, -0.5], ...(usage ? { inputTextTokenCount: 3 } : {}) });
  if (path.endsWith("/chat/completions"))
    return streamed
      ? chatStream("chat.completion.chunk", (text) => ({ delta: text === null ? {} : { content: text } }), usage)
      : json({
          id: "c1",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
          ...(usage ? { usage: OPENAI_USAGE } : {}),
        });
  if (path.endsWith("/completions"))
    return streamed
      ? chatStream("text_completion", (text) => ({ text: text ?? "" }), usage)
      : json({
          id: "c1",
          object: "text_completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, text: TEXT, finish_reason: "stop" }],
          ...(usage ? { usage: OPENAI_USAGE } : {}),
        });
  if (path.endsWith("/responses")) return streamed ? responsesStream(usage) : json(response("completed", usage));
  if (path.endsWith("/messages"))
    return streamed
      ? messagesStream(usage)
      : json({
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [{ type: "text", text: TEXT }],
          stop_reason: "end_turn",
          stop_sequence: null,
          ...(usage ? { usage: { input_tokens: 5, output_tokens: 4 } } : {}),
        });
  if (path.includes(":streamGenerateContent")) return geminiStream(path.includes("alt=sse"), usage);
  if (path.includes(":generateContent")) return json(gemini(TEXT, true, usage));
  if (path.endsWith("/converse-stream")) return converseStream(usage);
  return json({
    output: { message: { role: "assistant", content: [{ text: TEXT }] } },
    stopReason: "end_turn",
    metrics: { latencyMs: 1 },
    ...(usage ? { usage: CONVERSE_USAGE } : {}),
  });
}

const OPENAI_USAGE = { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 };
const CONVERSE_USAGE = { inputTokens: 5, outputTokens: 4, totalTokens: 9 };
const WORDS = ["Grüße ", "aus ", "Übersee ", "👋"];

const json = (value: unknown): ProviderAnswer => ({
  contentType: "application/json",
  frames: [encoder.encode(JSON.stringify(value))],
  endsAt: 1,
});
const events = (frames: readonly string[], endsAt: number): ProviderAnswer => ({
  contentType: "text/event-stream",
  frames: frames.map((frame) => encoder.encode(frame)),
  endsAt,
});
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const named = (value: { type: string }) => `event: ${value.type}\n${data(value)}`;

function chatStream(object: string, choice: (text: string | null) => object, usage: boolean): ProviderAnswer {
  const chunk = (text: string | null) =>
    data({
      id: "c1",
      object,
      created: 1,
      model: "m",
      choices: [{ index: 0, ...choice(text), finish_reason: text === null ? "stop" : null }],
    });
  const frames = [...WORDS.map(chunk), chunk(null)];
  if (usage) frames.push(data({ id: "c1", object, created: 1, model: "m", choices: [], usage: OPENAI_USAGE }));
  return events([...frames, "data: [DONE]\n\n"], WORDS.length);
}

function response(status: string, usage: boolean) {
  const item = {
    type: "message",
    id: "msg_1",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: TEXT, annotations: [] }],
  };
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    status,
    model: "m",
    output: status === "completed" ? [item] : [],
    ...(usage ? { usage: { input_tokens: 5, output_tokens: 4, total_tokens: 9 } } : {}),
  };
}

function responsesStream(usage: boolean): ProviderAnswer {
  const frames = [
    { type: "response.created", response: response("in_progress", false) },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "message", id: "msg_1", status: "in_progress", role: "assistant", content: [] },
    },
    {
      type: "response.content_part.added",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      part: { type: "output_text", text: "", annotations: [] },
    },
    ...WORDS.map((delta) => ({ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta })),
    { type: "response.output_text.done", item_id: "msg_1", output_index: 0, content_index: 0, text: TEXT },
    { type: "response.output_item.done", output_index: 0, item: response("completed", false).output[0] },
    { type: "response.completed", response: response("completed", usage) },
  ];
  return events(
    frames.map((frame, sequence_number) => named(Object.assign(frame, { sequence_number }))),
    frames.length - 1,
  );
}

function messagesStream(usage: boolean): ProviderAnswer {
  const frames = [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        ...(usage ? { usage: { input_tokens: 5, output_tokens: 1 } } : {}),
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...WORDS.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, ...(usage ? { usage: { output_tokens: 4 } } : {}) },
    { type: "message_stop" },
  ];
  return events(frames.map(named), frames.length - 2);
}

function gemini(text: string, last: boolean, usage: boolean) {
  return {
    candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...(last ? { finishReason: "STOP" } : {}) }],
    ...(usage ? { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 } } : {}),
    modelVersion: "m",
    responseId: "r1",
  };
}

function geminiStream(sse: boolean, usage: boolean): ProviderAnswer {
  const bodies = WORDS.map((word, i) => gemini(word, i === WORDS.length - 1, usage));
  if (sse)
    return events(
      bodies.map((body) => `data: ${JSON.stringify(body)}\r\n\r\n`),
      bodies.length - 1,
    );
  const elements = bodies.map((body, i) => encoder.encode(`${i === 0 ? "[" : ",\r\n"}${JSON.stringify(body)}`));
  return { contentType: "application/json", frames: [...elements, encoder.encode("]")], endsAt: elements.length - 1 };
}

function converseStream(usage: boolean): ProviderAnswer {
  const frames: [string, unknown][] = [
    ["messageStart", { role: "assistant" }],
    ...WORDS.map((text): [string, unknown] => ["contentBlockDelta", { contentBlockIndex: 0, delta: { text } }]),
    ["contentBlockStop", { contentBlockIndex: 0 }],
    ["messageStop", { stopReason: "end_turn" }],
  ];
  if (usage) frames.push(["metadata", { usage: CONVERSE_USAGE, metrics: { latencyMs: 1 } }]);
  return {
    contentType: "application/vnd.amazon.eventstream",
    frames: frames.map(([name, payload]) => eventStreamMessage(name, payload)),
    endsAt: WORDS.length + 2,
  };
}

/** One message of AWS's event stream: lengths with their checksum, headers, payload, and a checksum of everything. */
export function eventStreamMessage(name: string, payload: unknown): Uint8Array {
  const header = (key: string, value: string) =>
    Buffer.concat([Buffer.from([key.length]), Buffer.from(key), Buffer.from([7, 0, value.length]), Buffer.from(value)]);
  const headers = Buffer.concat([
    header(":message-type", "event"),
    header(":event-type", name),
    header(":content-type", "application/json"),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const message = Buffer.alloc(16 + headers.length + body.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, 12);
  body.copy(message, 12 + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4);
  return message;
}
