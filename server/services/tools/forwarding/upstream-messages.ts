import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { isEventStream } from "../../../upstreams/tool-servers/event-stream.ts";
import { answers, messagesIn, readUpstreamRpc, type RpcId } from "../../../wire/mcp/rpc.ts";
import { frameData } from "../../../wire/streams/sse-data.ts";
import { FrameTooLarge } from "../../../wire/streams/stream-bounds.ts";
import { FrameCutter } from "../../../wire/streams/sse-frames.ts";
import { readAnswerBody } from "../../../road/answers/read-answer.ts";
import { UnclearMessage, unclearMessage } from "./unclear-message.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";

/** A message of a tool server with its exact text. */
export interface UpstreamMessage {
  readonly text: string;
  readonly value: JsonObject;
}

/** Position in a stream with event IDs, and the server's reconnection delay. */
interface StreamPlace {
  lastEventId: string | null;
  retryMs: number | null;
}

/** The messages of an answer in order, streamed or not. Anything that is not a message is skipped. Throws if the answer breaks off. */
export async function* upstreamMessages(response: Response, place: StreamPlace | null = null): AsyncGenerator<UpstreamMessage, void> {
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
        const event = decoder.decode(frame);
        if (place !== null) notePlace(event, place);
        const data = frameData(event);
        if (data !== null) yield* messagesOf(data);
      }
      if (done) return;
    }
  } finally {
    void cancelQuietly(reader);
  }
}

const RETRY_MS = 1_000;
const MIN_RETRY_MS = 10;
/** Limits reconnections, because a server may send the same events forever. */
const MAX_PARTS = 1_000;
const MAX_RETRY_MS = 30_000;

function notePlace(event: string, place: StreamPlace): void {
  const id = /^id: ?(.*)$/m.exec(event)?.[1]?.trim();
  if (id !== undefined && id !== "") place.lastEventId = id;
  const retry = /^retry: ?(\d+)\s*$/m.exec(event)?.[1];
  if (retry !== undefined) place.retryMs = Math.min(Math.max(Number(retry), MIN_RETRY_MS), MAX_RETRY_MS);
}

/**
 * The messages up to the answer to one request. A server may end the stream of a long request early: if it sends event IDs, `readOn`
 * reopens the stream after the last one, as long as it returns a response.
 */
export async function* messagesToAnswer(
  response: Response,
  id: RpcId,
  readOn: (lastEventId: string) => Promise<Response | null>,
  signal: AbortSignal,
): AsyncGenerator<UpstreamMessage, void> {
  const place: StreamPlace = { lastEventId: null, retryMs: null };
  let part: Response | null = response;
  for (let parts = 0; part !== null && parts < MAX_PARTS; parts++) {
    try {
      for await (const message of upstreamMessages(part, place)) {
        yield message;
        if (answers(message.value, id)) return;
      }
    } catch (error) {
      // An oversized or ambiguous message would be the same after reconnecting.
      if (place.lastEventId === null || signal.aborted || error instanceof FrameTooLarge || error instanceof UnclearMessage) throw error;
    }
    if (place.lastEventId === null) return;
    await afterwards(place.retryMs ?? RETRY_MS, signal);
    part = signal.aborted ? null : await readOn(place.lastEventId);
  }
}

function afterwards(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over, { once: true });
    if (signal.aborted) over();
  });
}

function* messagesOf(given: string): Generator<UpstreamMessage, void> {
  for (const text of messagesIn(given)) {
    const value = readUpstreamRpc(text);
    if (value === null) continue;
    const unclear = unclearMessage(text, value);
    if (unclear !== null) throw new UnclearMessage(unclear);
    yield { text, value };
  }
}

/** The answer to a request, skipping earlier messages; null if it never arrives. */
export async function finalMessage(messages: AsyncGenerator<UpstreamMessage, void>, id: RpcId | null): Promise<UpstreamMessage | null> {
  for await (const message of messages) if (answers(message.value, id)) return message;
  return null;
}
