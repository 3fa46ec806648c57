import { KEEP_ALIVE_MS, withKeepAlive } from "./keep-alive.ts";
import { UnclearMessage } from "../forwarding/unclear-message.ts";
import { reasonOf, type Refusal, refuse, Refused } from "../../../kernel/errors.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { Dialect } from "../../../wire/mcp/dialect.ts";
import { errorMember } from "../../../wire/mcp/rpc.ts";
import { type StreamCodec, UNMETERED } from "../../../wire/streams/stream.ts";
import { abortReason, type Call } from "../../../road/call.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import { type Answer, ownAnswer, type WholeAnswer } from "../../../road/answer.ts";
import { frameOf, SENDER } from "./rpc-stream.ts";
import { EVENT_STREAM_HEADERS } from "../../../wire/streams/stream-headers.ts";

/** Yields messages for the caller as they arrive; returns the answer. */
export type Relay = AsyncGenerator<string, string | Refusal>;

const encoder = new TextEncoder();

/** The HTTP status of an answer that is not streamed: the stateless dialect maps protocol errors to status codes. */
function statusOf(error: JsonObject, dialect: Dialect): number {
  if (dialect === "handshake") return 200;
  if (error.code === -32601) return 404;
  return typeof error.code === "number" && error.code <= -32020 && error.code >= -32022 ? 400 : 200;
}

/** A message as an answer that is not streamed. */
export function wholeAnswer(call: Call, text: string, dialect: Dialect, headers: Readonly<Record<string, string>> = {}): WholeAnswer {
  const error = errorOf(call, text);
  return {
    kind: "whole",
    status: error === null ? 200 : statusOf(error, dialect),
    headers: { "content-type": "application/json", ...headers },
    body: encoder.encode(text),
    usage: null,
    failure: error === null ? null : `error ${String(error.code)}: ${String(error.message).slice(0, 300)}`,
  };
}

/** The answer to a notification or a response: 202 without a body. */
export function acceptedAnswer(): WholeAnswer {
  return ownAnswer(202, {});
}

/** `errorIn` for a message's text. */
export function errorOf(call: Call, text: string): JsonObject | null {
  return errorIn(call, JSON.parse(text) as JsonObject);
}

/** The JSON-RPC error of a message, or null. A failure of the tool itself is no protocol error, and is only tagged on the row. */
export function errorIn(call: Call, value: JsonObject): JsonObject | null {
  const error = errorMember(value);
  if (error !== null) return error;
  if (isObject(value.result) && value.result.isError === true) addTag(call, "tool_error");
  return null;
}

/** Returns a single answer if no message precedes it, otherwise a stream that ends with it. */
export async function relayAnswer(call: Call, relay: Relay, dialect: Dialect): Promise<Answer | Refusal> {
  const first = await next(call, relay);
  if (first.done === true) return typeof first.value === "string" ? wholeAnswer(call, first.value, dialect) : first.value;
  const state: { last: Uint8Array | null; failed: Refusal | null } = { last: null, failed: null };
  let held: string | null = first.value;
  const upstream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (held !== null) {
          controller.enqueue(frameOf(held));
          held = null;
          return;
        }
        const step = await next(call, relay);
        if (step.done !== true) {
          controller.enqueue(frameOf(step.value));
          return;
        }
        if (typeof step.value === "string") {
          if (errorOf(call, step.value) !== null) addTag(call, "rpc_error");
          state.last = frameOf(step.value);
        } else state.failed = step.value;
        controller.close();
      },
      async cancel() {
        await relay.return(refuse("upstream_interrupted")).catch(() => undefined);
      },
    },
    { highWaterMark: 0 },
  ).getReader();
  const codec: StreamCodec = {
    ...UNMETERED,
    push: (piece) => piece,
    end: () => ({ complete: state.last !== null, last: state.last, errorReported: false }),
  };
  call.row.proxy_subtype = "sse_stream";
  return {
    kind: "stream",
    status: 200,
    headers: EVENT_STREAM_HEADERS,
    upstream: withKeepAlive(upstream, KEEP_ALIVE_MS),
    codec,
    head: [],
    inputCharacters: null,
    sender: SENDER,
    refusal: (ended) => (ended ? state.failed : null),
  };
}

/** `relayAnswer` for a caller that does not accept event streams: the answer without preceding messages. */
export async function wholeRelayAnswer(call: Call, relay: Relay, dialect: Dialect): Promise<Answer | Refusal> {
  const answer = await answerOf(call, relay);
  return typeof answer === "string" ? wholeAnswer(call, answer, dialect) : answer;
}

/** The answer without preceding messages. */
export async function answerOf(call: Call, relay: Relay): Promise<string | Refusal> {
  for (;;) {
    const step = await next(call, relay);
    if (step.done === true) return step.value;
  }
}

/** Advances the relay; a failure becomes a refusal as its result. */
async function next(call: Call, relay: Relay): Promise<IteratorResult<string, string | Refusal>> {
  try {
    return await relay.next();
  } catch (error) {
    if (error instanceof UnclearMessage || error instanceof Refused) return { done: true, value: error.refusal };
    const value =
      abortReason(call) === "upstream_timeout"
        ? refuse("upstream_timeout", "The tool server did not answer in time.")
        : refuse("upstream_interrupted", "The tool server broke off its answer.", { reason: reasonOf(error) });
    return { done: true, value };
  }
}
