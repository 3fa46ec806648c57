import { answers, messagesIn, readUpstreamRpc, type RpcId } from "../../wire/mcp/rpc.ts";
import { FrameCutter, frameData } from "../../wire/sse-frames.ts";
import { readAnswerBody } from "../routing/read-answer.ts";
import type { JsonObject } from "../../wire/document.ts";

/** A message of a tool server with its own spelling. */
export interface UpstreamMessage {
  readonly text: string;
  readonly value: JsonObject;
}

export function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") === true;
}

/** The messages of an answer in order, whichever way it was sent. What is no message is passed over. Throws when the answer breaks off. */
export async function* upstreamMessages(response: Response): AsyncGenerator<UpstreamMessage, void> {
  if (!isEventStream(response)) {
    yield* messagesOf(new TextDecoder().decode(await readAnswerBody(response)));
    return;
  }
  if (response.body === null) return;
  const reader = response.body.getReader();
  const cutter = new FrameCutter();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const frames = done ? [cutter.rest()] : cutter.push(value);
      for (const frame of frames) {
        const data = frameData(decoder.decode(frame));
        if (data !== null) yield* messagesOf(data);
      }
      if (done) return;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function* messagesOf(given: string): Generator<UpstreamMessage, void> {
  for (const text of messagesIn(given)) {
    const value = readUpstreamRpc(text);
    if (value !== null) yield { text, value };
  }
}

/** The answer to one request, skipping what comes before it; null when it never came. */
export async function finalMessage(messages: AsyncGenerator<UpstreamMessage, void>, id: RpcId | null): Promise<UpstreamMessage | null> {
  for await (const message of messages) if (answers(message.value, id)) return message;
  return null;
}
