/** A way of calling the gateway, and how to classify its answers. */
export interface InboundSurface {
  readonly name: string;
  readonly streamed: boolean;
  readonly mode: "chat" | "embedding";
  request(model: string, text: string): { readonly path: string; readonly body: object };
  /** How a client classifies a body with status 200. */
  read(text: string): "answer" | "error" | "silent end";
  /** Whether a refusal before any answer has the surface's own error format. */
  isRefusal(body: any): boolean;
}

const LLM = "/v1/proxy/llm";
const messages = (content: string) => [{ role: "user", content }];
const openaiRefusal = (body: any) => typeof body.error === "string" && typeof body.code === "string";
const messagesRefusal = (body: any) =>
  body.type === "error" && typeof body.error.type === "string" && typeof body.error.message === "string";
const geminiRefusal = (body: any) =>
  typeof body.error.code === "number" && typeof body.error.status === "string" && typeof body.error.message === "string";

type Words = Pick<InboundSurface, "name" | "request" | "isRefusal">;

const CHAT: Words = {
  name: "chat",
  isRefusal: openaiRefusal,
  request: (model, text) => ({ path: `${LLM}/chat/completions`, body: { model, messages: messages(text) } }),
};
const COMPLETIONS: Words = {
  name: "completions",
  isRefusal: openaiRefusal,
  request: (model, prompt) => ({ path: `${LLM}/completions`, body: { model, prompt } }),
};
const RESPONSES: Words = {
  name: "responses",
  isRefusal: openaiRefusal,
  request: (model, input) => ({ path: `${LLM}/responses`, body: { model, input } }),
};
const MESSAGES: Words = {
  name: "messages",
  isRefusal: messagesRefusal,
  request: (model, text) => ({ path: "/v1/messages", body: { model, max_tokens: 64, messages: messages(text) } }),
};
const gemini = (name: string, method: string): Words => ({
  name,
  isRefusal: geminiRefusal,
  request: (model, text) => ({ path: `/v1beta/models/${model}:${method}`, body: { contents: [{ role: "user", parts: [{ text }] }] } }),
});

export const SURFACES: readonly InboundSurface[] = [
  whole(CHAT, (body) => Array.isArray(body.choices)),
  whole(COMPLETIONS, (body) => Array.isArray(body.choices)),
  whole(RESPONSES, (body) => Array.isArray(body.output)),
  whole(MESSAGES, (body) => Array.isArray(body.content)),
  whole(gemini("gemini", "generateContent"), (body) => Array.isArray(body.candidates)),
  {
    ...whole(
      { name: "embeddings", isRefusal: openaiRefusal, request: (model, input) => ({ path: `${LLM}/embeddings`, body: { model, input } }) },
      (body) => Array.isArray(body.data),
    ),
    mode: "embedding",
  },
  streamed(
    CHAT,
    (frame) => frame === "[DONE]" || frame.choices?.[0]?.finish_reason != null,
    (frame) => typeof frame.error?.message === "string",
  ),
  streamed(
    COMPLETIONS,
    (frame) => frame === "[DONE]" || frame.choices?.[0]?.finish_reason != null,
    (frame) => typeof frame.error?.message === "string",
  ),
  streamed(
    RESPONSES,
    (frame) => frame.type === "response.completed",
    (frame) => frame.type === "error" && typeof frame.message === "string",
  ),
  streamed(
    MESSAGES,
    (frame) => frame.type === "message_stop" || frame.delta?.stop_reason != null,
    (frame) => frame.type === "error" && typeof frame.error.message === "string",
  ),
  streamed(
    gemini("gemini events", "streamGenerateContent?alt=sse"),
    (frame) => frame.candidates?.[0]?.finishReason !== undefined,
    (frame) => typeof frame.error?.status === "string",
  ),
  {
    ...streamed(
      gemini("gemini array", "streamGenerateContent"),
      () => false,
      () => false,
    ),
    read: readArray,
  },
];

function whole(words: Words, isAnswer: (body: any) => boolean): InboundSurface {
  return { ...words, streamed: false, mode: "chat", read: (text) => (isAnswer(JSON.parse(text)) ? "answer" : "silent end") };
}

function streamed(words: Words, isEnd: (frame: any) => boolean, isError: (frame: any) => boolean): InboundSurface {
  return {
    ...words,
    name: `${words.name} streamed`,
    streamed: true,
    mode: "chat",
    request(model, text) {
      const { path, body } = words.request(model, text);
      return { path, body: path.includes("/v1beta/") ? body : { ...body, stream: true } };
    },
    read(text) {
      const frames = text.split(/\r?\n\r?\n/).flatMap((frame) => frameIn(frame));
      if (frames.some(isError)) return "error";
      // After the last blank line there must be a complete event or nothing: half an event is not a proper end.
      const rest = text.split(/\r?\n\r?\n/).at(-1) ?? "";
      return frames.some(isEnd) && (rest === "" || frameIn(rest).length > 0) ? "answer" : "silent end";
    },
  };
}

/** The events a client reads from a frame; invalid JSON is ignored. */
function frameIn(frame: string): unknown[] {
  const data = frame.split(/\r?\n/).flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []));
  if (data.length === 0) return [];
  if (data.join("\n") === "[DONE]") return ["[DONE]"];
  try {
    const value: unknown = JSON.parse(data.join("\n"));
    return value === null ? [] : [value];
  } catch {
    return [];
  }
}

function readArray(text: string): "answer" | "error" | "silent end" {
  let elements: any[];
  try {
    elements = JSON.parse(text);
  } catch {
    // The provider's bytes may leave the array invalid; the error the gateway appends is still recognizable.
    return /"error":\{"code":\d+,.*\}\]$/s.test(text) ? "error" : "silent end";
  }
  if (elements.some(({ error }) => error !== undefined)) return "error";
  return elements.some(({ candidates }) => candidates?.[0]?.finishReason !== undefined) ? "answer" : "silent end";
}
