import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { isEventStream } from "../../../upstreams/tool-servers/event-stream.ts";
import { answers, messagesIn, readUpstreamRpc, type RpcId } from "../../../wire/mcp/rpc.ts";
import { frameData } from "../../../wire/streams/sse-data.ts";
import { FrameTooLarge } from "../../../wire/streams/stream-bounds.ts";
import { FrameCutter } from "../../../wire/streams/sse-frames.ts";
import { readAnswerBody } from "../../../road/answers/read-answer.ts";
import { UnclearMessage, unclearMessage } from "./unclear-message.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";

/** A message of a tool server with its own spelling. */
export interface UpstreamMessage {
  readonly text: string;
  readonly value: JsonObject;
}

/** How far a stream was read whose server numbers its events, and when it may be read on. */
interface StreamPlace {
  lastEventId: string | null;
  retryMs: number | null;
}

/** The messages of an answer in order, whichever way it was sent. What is no message is passed over. Throws when the answer breaks off. */
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
const LEAST_RETRY_MS = 10;
/** A server that sends the same again and again is not followed for ever. */
const MAX_PARTS = 1_000;
const MAX_RETRY_MS = 30_000;

function notePlace(event: string, place: StreamPlace): void {
  const id = /^id: ?(.*)$/m.exec(event)?.[1]?.trim();
  if (id !== undefined && id !== "") place.lastEventId = id;
  const retry = /^retry: ?(\d+)\s*$/m.exec(event)?.[1];
  if (retry !== undefined) place.retryMs = Math.min(Math.max(Number(retry), LEAST_RETRY_MS), MAX_RETRY_MS);
}

/**
 * The messages up to the answer to one request, of a server that may end the stream of a long one before: where it
 * numbers its events, `readOn` is asked for what comes behind the last of them, for as long as there is such a stream.
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
      // What is too large once is so again.
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

/** The answer to one request, skipping what comes before it; null when it never came. */
export async function finalMessage(messages: AsyncGenerator<UpstreamMessage, void>, id: RpcId | null): Promise<UpstreamMessage | null> {
  for await (const message of messages) if (answers(message.value, id)) return message;
  return null;
}
