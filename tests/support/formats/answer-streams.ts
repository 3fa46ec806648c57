import { concat } from "../../../server/wire/streams/adjoining-bytes.ts";

/** A tool call with its arguments as they are streamed, in pieces. */
export interface StreamedToolCall {
  readonly name: string;
  readonly pieces: readonly string[];
}

/** What a client reads from an answer. `error`: the body of the error that ended it. */
export interface ReadAnswer {
  text: string;
  calls: { name: string; arguments: string }[];
  error: any;
}

/** Answers of one surface as its vendor writes them, and what the vendor's client reads from them. */
export interface AnswerSurface {
  readonly name: "chat" | "completions" | "responses" | "messages" | "gemini events" | "gemini array";
  readonly format: "chat" | "completions" | "responses" | "messages" | "gemini";
  readonly framing: "events" | "array";
  frames(pieces: readonly string[], call?: StreamedToolCall): Uint8Array[];
  whole(text: string, call?: StreamedToolCall): object;
  read(bytes: Uint8Array): ReadAnswer;
  readWhole(body: any): ReadAnswer;
}

const encoder = new TextEncoder();
const data = (value: unknown) => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
const named = (value: { type: string }) => encoder.encode(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`);
const nothing = (): ReadAnswer => ({ text: "", calls: [], error: null });

function eventsIn(bytes: Uint8Array): any[] {
  return new TextDecoder()
    .decode(bytes)
    .split(/\r?\n\r?\n/)
    .flatMap((frame) =>
      frame
        .split(/\r?\n/)
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice(6)),
    )
    .filter((line) => line !== "[DONE]")
    .map((line) => JSON.parse(line));
}

const joined = (call: StreamedToolCall) => call.pieces.join("");

const CHAT: AnswerSurface = {
  name: "chat",
  format: "chat",
  framing: "events",
  frames(pieces, call) {
    const chunk = (delta: object, finish: string | null = null) =>
      data({
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      });
    const calls =
      call === undefined
        ? []
        : call.pieces.map((piece, i) =>
            chunk({
              tool_calls: [
                {
                  index: 0,
                  ...(i === 0 ? { id: "call_1", type: "function" } : {}),
                  function: { ...(i === 0 ? { name: call.name } : {}), arguments: piece },
                },
              ],
            }),
          );
    return [
      chunk({ role: "assistant", content: "" }),
      ...pieces.map((content) => chunk({ content })),
      ...calls,
      chunk({}, call === undefined ? "stop" : "tool_calls"),
      encoder.encode("data: [DONE]\n\n"),
    ];
  },
  whole: (content, call) => ({
    id: "c1",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content,
          ...(call === undefined
            ? {}
            : { tool_calls: [{ id: "call_1", type: "function", function: { name: call.name, arguments: joined(call) } }] }),
        },
        finish_reason: call === undefined ? "stop" : "tool_calls",
      },
    ],
    usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
  }),
  read(bytes) {
    const out = nothing();
    for (const event of eventsIn(bytes)) {
      out.error ??= event.error ?? null;
      for (const { delta } of event.choices ?? []) {
        out.text += delta.content ?? "";
        for (const { index, function: fn } of delta.tool_calls ?? []) {
          const call = (out.calls[index] ??= { name: "", arguments: "" });
          call.name += fn.name ?? "";
          call.arguments += fn.arguments ?? "";
        }
      }
    }
    return out;
  },
  readWhole: (body) => ({
    text: body.choices?.[0].message.content ?? "",
    calls: (body.choices?.[0].message.tool_calls ?? []).map(({ function: fn }: any) => ({ name: fn.name, arguments: fn.arguments })),
    error: body.error ?? null,
  }),
};

const COMPLETIONS: AnswerSurface = {
  name: "completions",
  format: "completions",
  framing: "events",
  frames(pieces) {
    const chunk = (text: string, finish: string | null = null) =>
      data({
        id: "c1",
        object: "text_completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, text, logprobs: null, finish_reason: finish }],
      });
    return [...pieces.map((text) => chunk(text)), chunk("", "stop"), encoder.encode("data: [DONE]\n\n")];
  },
  whole: (text) => ({
    id: "c1",
    object: "text_completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, text, finish_reason: "stop" }],
    usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
  }),
  read(bytes) {
    const out = nothing();
    for (const event of eventsIn(bytes)) {
      out.error ??= event.error ?? null;
      for (const choice of event.choices ?? []) out.text += choice.text;
    }
    return out;
  },
  readWhole: (body) => ({ text: body.choices?.[0].text ?? "", calls: [], error: body.error ?? null }),
};

const responseOf = (status: string, text: string, call?: StreamedToolCall) => ({
  id: "resp_1",
  object: "response",
  created_at: 1,
  status,
  model: "m",
  output: status === "completed" ? [messageItem(text), ...(call === undefined ? [] : [callItem(call.name, joined(call))])] : [],
  usage: { input_tokens: 5, output_tokens: 4, total_tokens: 9 },
});
const messageItem = (text: string) => ({
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});
const callItem = (name: string, args: string) => ({
  type: "function_call",
  id: "fc_1",
  call_id: "call_1",
  status: "completed",
  name,
  arguments: args,
});

const RESPONSES: AnswerSurface = {
  name: "responses",
  format: "responses",
  framing: "events",
  frames(pieces, call) {
    const text = pieces.join("");
    const at = { item_id: "msg_1", output_index: 0, content_index: 0 };
    const events: { type: string }[] = [
      { type: "response.created", response: responseOf("in_progress", "") },
      { type: "response.output_item.added", output_index: 0, item: { ...messageItem(""), status: "in_progress", content: [] } },
      { type: "response.content_part.added", ...at, part: { type: "output_text", text: "", annotations: [] } },
      ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
      { type: "response.output_text.done", ...at, text, logprobs: [] },
      { type: "response.content_part.done", ...at, part: { type: "output_text", text, annotations: [] } },
      { type: "response.output_item.done", output_index: 0, item: messageItem(text) },
    ] as { type: string }[];
    if (call !== undefined) {
      const of = { item_id: "fc_1", output_index: 1 };
      events.push(
        { type: "response.output_item.added", output_index: 1, item: { ...callItem(call.name, ""), status: "in_progress" } } as {
          type: string;
        },
        ...call.pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...of, delta })),
        { type: "response.function_call_arguments.done", ...of, arguments: joined(call) } as { type: string },
        { type: "response.output_item.done", output_index: 1, item: callItem(call.name, joined(call)) } as { type: string },
      );
    }
    events.push({ type: "response.completed", response: responseOf("completed", text, call) } as { type: string });
    return events.map((event, sequence_number) => named(Object.assign(event, { sequence_number })));
  },
  whole: (text, call) => responseOf("completed", text, call),
  read(bytes) {
    const out = nothing();
    const told: ReadAnswer[] = [];
    const args = new Map<number, { name: string; arguments: string }>();
    let count = -1;
    for (const event of eventsIn(bytes)) {
      if (event.type === "error") out.error ??= event;
      else {
        if (event.sequence_number !== undefined && event.sequence_number <= count)
          throw new Error(`the count went from ${count} to ${event.sequence_number}`);
        count = event.sequence_number ?? count;
      }
      if (event.type === "response.output_text.delta") out.text += event.delta;
      if (event.type === "response.output_text.done") told.push({ ...nothing(), text: event.text });
      if (event.type === "response.content_part.done") told.push({ ...nothing(), text: event.part.text });
      if (event.type === "response.output_item.added" && event.item.type === "function_call")
        args.set(event.output_index, { name: event.item.name, arguments: "" });
      const call = args.get(event.output_index);
      if (event.type === "response.function_call_arguments.delta" && call !== undefined) call.arguments += event.delta;
      if (event.type === "response.function_call_arguments.done" && call?.arguments !== event.arguments)
        throw new Error("the arguments differ");
      if (event.type === "response.completed") {
        const whole = RESPONSES.readWhole(event.response);
        if (JSON.stringify(whole.calls) !== JSON.stringify([...args.values()])) throw new Error("the calls differ");
        told.push(whole);
      }
    }
    out.calls = [...args.values()];
    for (const { text } of told) if (text !== out.text) throw new Error(`the texts differ: ${JSON.stringify([out.text, text])}`);
    return out;
  },
  readWhole(body) {
    const out = { ...nothing(), error: body.error ?? null };
    for (const item of body.output ?? []) {
      if (item.type === "message") out.text += item.content[0].text;
      else out.calls.push({ name: item.name, arguments: item.arguments });
    }
    return out;
  },
};

const MESSAGES: AnswerSurface = {
  name: "messages",
  format: "messages",
  framing: "events",
  frames(pieces, call) {
    const frames: object[] = [
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: null,
          usage: { input_tokens: 5, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "ping" },
      ...pieces.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
      { type: "content_block_stop", index: 0 },
    ];
    if (call !== undefined) {
      frames.push(
        { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "toolu_1", name: call.name, input: {} } },
        ...call.pieces.map((partial_json) => ({
          type: "content_block_delta",
          index: 1,
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index: 1 },
      );
    }
    frames.push(
      {
        type: "message_delta",
        delta: { stop_reason: call === undefined ? "end_turn" : "tool_use", stop_sequence: null },
        usage: { output_tokens: 4 },
      },
      { type: "message_stop" },
    );
    return frames.map((frame) => named(frame as { type: string }));
  },
  whole: (text, call) => ({
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [
      { type: "text", text },
      ...(call === undefined ? [] : [{ type: "tool_use", id: "toolu_1", name: call.name, input: JSON.parse(joined(call)) }]),
    ],
    stop_reason: call === undefined ? "end_turn" : "tool_use",
    usage: { input_tokens: 5, output_tokens: 4 },
  }),
  read(bytes) {
    const out = nothing();
    const open = new Set<number>();
    for (const event of eventsIn(bytes)) {
      if (event.type === "error") out.error ??= event.error;
      if (event.type === "content_block_start") {
        open.add(event.index);
        if (event.content_block.type === "tool_use") out.calls.push({ name: event.content_block.name, arguments: "" });
      }
      if (event.type === "content_block_stop") open.delete(event.index);
      if (event.type === "content_block_delta") {
        if (!open.has(event.index)) throw new Error("a piece of a block that is not open");
        if (event.delta.type === "text_delta") out.text += event.delta.text;
        else (out.calls.at(-1) as { arguments: string }).arguments += event.delta.partial_json;
      }
    }
    return out;
  },
  readWhole(body) {
    const out = { ...nothing(), error: body.error ?? null };
    for (const block of body.content ?? []) {
      if (block.type === "text") out.text += block.text;
      else out.calls.push({ name: block.name, arguments: JSON.stringify(block.input) });
    }
    return out;
  },
};

const geminiBody = (parts: object[], last: boolean) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(last ? { finishReason: "STOP" } : {}) }],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4, totalTokenCount: 9 },
  modelVersion: "m",
  responseId: "r1",
});

function geminiBodies(pieces: readonly string[], call: StreamedToolCall | undefined): object[] {
  const parts: object[][] = pieces.map((text) => [{ text }]);
  if (call !== undefined) parts.push([{ functionCall: { name: call.name, args: JSON.parse(joined(call)) } }]);
  // Google ends some streams with text and some with an empty final chunk.
  if (pieces.length % 2 === 0 || parts.length === 0) parts.push([]);
  return parts.map((part, i) => geminiBody(part, i === parts.length - 1));
}

function readGemini(bodies: readonly any[]): ReadAnswer {
  const out = nothing();
  for (const body of bodies) {
    out.error ??= body.error ?? null;
    for (const part of body.candidates?.[0].content.parts ?? []) {
      out.text += part.text ?? "";
      if (part.functionCall !== undefined)
        out.calls.push({ name: part.functionCall.name, arguments: JSON.stringify(part.functionCall.args) });
    }
  }
  return out;
}

const GEMINI_EVENTS: AnswerSurface = {
  name: "gemini events",
  format: "gemini",
  framing: "events",
  frames: (pieces, call) => geminiBodies(pieces, call).map((body) => encoder.encode(`data: ${JSON.stringify(body)}\r\n\r\n`)),
  whole: (text, call) =>
    geminiBody([{ text }, ...(call === undefined ? [] : [{ functionCall: { name: call.name, args: JSON.parse(joined(call)) } }])], true),
  read: (bytes) => readGemini(eventsIn(bytes)),
  readWhole: (body) => readGemini([body]),
};

const GEMINI_ARRAY: AnswerSurface = {
  ...GEMINI_EVENTS,
  name: "gemini array",
  framing: "array",
  frames: (pieces, call) => [
    ...geminiBodies(pieces, call).map((body, i) => encoder.encode(`${i === 0 ? "[" : ",\r\n"}${JSON.stringify(body)}`)),
    encoder.encode("]"),
  ],
  read: (bytes) => readGemini(JSON.parse(new TextDecoder().decode(bytes))),
};

export const ANSWER_SURFACES: readonly AnswerSurface[] = [CHAT, COMPLETIONS, RESPONSES, MESSAGES, GEMINI_EVENTS, GEMINI_ARRAY];

/** Splits the joined frames into pieces of random size. */
export function cutAnew(frames: readonly Uint8Array[], most: number, seed: number): Uint8Array[] {
  const bytes = concat([...frames]);
  const pieces: Uint8Array[] = [];
  let state = seed | 1;
  for (let at = 0; at < bytes.length;) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    const size = 1 + ((state >> 8) % most);
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
}
