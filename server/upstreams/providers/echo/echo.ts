import { estimateTokens } from "../../../wire/usage.ts";
import type { Provider, ProviderReply } from "../provider.ts";
import { operationNotServed } from "../send.ts";
import { echoEmbeddings } from "./echo-embeddings.ts";
import { echoTraits } from "./traits.ts";

/**
 * The built-in model, so that the first governed call needs no account and no network. It answers with the caller's last message, and every
 * answer says that it is not a language model. Deterministic except for the creation time.
 */
export function echoProvider(clock: { now(): number }): Provider {
  return {
    traits: echoTraits,
    url: (_target, operation) => `echo:${operation === "chat" ? "chat/completions" : operation}`,
    async send(target, { operation, body, stream }) {
      if (operation === "embeddings") return echoEmbeddings(target.modelName, body, digest(body));
      if (operation !== "chat") return operationNotServed(target, operation);
      return chat(target.modelName, body, stream, clock.now());
    },
  };
}

function chat(model: string, text: string, stream: boolean, now: number): ProviderReply {
  const body = JSON.parse(text) as { messages: { role?: string; content?: unknown }[]; stream_options?: { include_usage?: boolean } };
  const last = body.messages.findLast(({ role }) => role === "user") ?? body.messages.at(-1);
  const repliedText = textOf(last?.content);
  const prompt = body.messages.reduce((sum, message) => sum + estimateTokens(textOf(message.content).length), 0);
  const completion = estimateTokens(repliedText.length);
  const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
  const head = {
    id: `chatcmpl-echo-${digest(text)}`,
    created: Math.floor(now / 1000),
    model,
    system_fingerprint: "gatehouse-echo: repeats your last message, not a language model",
  };

  if (!stream) {
    const message = { role: "assistant", content: repliedText, refusal: null };
    const reply = { ...head, object: "chat.completion", choices: [{ index: 0, message, logprobs: null, finish_reason: "stop" }], usage };
    return { response: Response.json(reply), requestId: head.id };
  }
  const frame = (delta: unknown, finish_reason: string | null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const frames = [
    frame({ role: "assistant", content: "" }, null),
    ...(repliedText.match(/\S+\s*|\s+/g) ?? []).map((content) => frame({ content }, null)),
    frame({}, "stop"),
    ...(body.stream_options?.include_usage === true ? [{ ...head, object: "chat.completion.chunk", choices: [], usage }] : []),
  ].map((value) => `data: ${JSON.stringify(value)}\n\n`);
  return {
    response: new Response(streamOf([...frames, "data: [DONE]\n\n"]), { headers: { "content-type": "text/event-stream" } }),
    requestId: head.id,
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as { type?: string; text?: unknown }[])
    .map((part) => (typeof part?.text === "string" ? part.text : part?.type ? `[${part.type}]` : ""))
    .join(" ");
}

function streamOf(frames: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const text = frames[next++];
      if (text === undefined) controller.close();
      else controller.enqueue(encoder.encode(text));
    },
  });
}

/** FNV-1a, for an ID that is equal for equal requests. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
