import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { type StreamCodec, UNMETERED } from "../../../wire/streams/stream.ts";
import { readUpstreamRpc } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import type { Answer, StreamAnswer } from "../../../road/answer.ts";
import { KEEP_ALIVE, KEEP_ALIVE_MS, withKeepAlive } from "../answers/keep-alive.ts";
import { errorOf } from "../answers/relay.ts";
import { frameOf, SENDER } from "../answers/rpc-stream.ts";
import { EVENT_STREAM_HEADERS } from "../../../wire/streams/stream-headers.ts";

/** A call that is paused on its caller's own stream until the input that `ask` requests has arrived. */
export interface PausedCall {
  readonly kind: "held";
  readonly ask: AsyncGenerator<string, Refusal | null>;
  readonly headers: Readonly<Record<string, string>>;
}

const decoder = new TextDecoder();

/**
 * A stream that begins with the gateway's own messages and goes on with the answer of the call: `ask` yields the
 * requests to the caller, and refuses the call or lets it go on; only then is `answer` called.
 */
export function pausedCallStream(call: Call, { ask, headers }: PausedCall, answer: () => Promise<Answer | Refusal>): StreamAnswer {
  let inner: StreamAnswer | null = null;
  let last: Uint8Array | null = null;
  let failed: Refusal | null = null;
  let asking = true;
  const begin = async (): Promise<readonly Uint8Array[]> => {
    const answered = await answer();
    if (isRefusal(answered)) failed = answered;
    else if (answered.kind === "stream") {
      inner = answered;
      return answered.head;
    } else {
      const text = decoder.decode(answered.body);
      if (readUpstreamRpc(text) === null)
        failed = refuse("upstream_invalid_response", `The tool server's answer (HTTP ${answered.status}) is no message of the protocol.`);
      else {
        if (errorOf(call, text) !== null) addTag(call, "rpc_error");
        last = frameOf(text);
      }
    }
    return [];
  };
  const upstream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (asking) {
          const step = await ask.next();
          if (step.done !== true) return controller.enqueue(frameOf(step.value));
          asking = false;
          failed = step.value;
          if (failed === null) call.row.proxy_subtype = "sse_stream";
          const head = failed === null ? await begin() : [];
          for (const piece of head) controller.enqueue(piece);
          if (inner === null) controller.close();
          else if (head.length === 0) controller.enqueue(KEEP_ALIVE);
          return;
        }
        const { done, value } = await (inner as unknown as StreamAnswer).upstream.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel(reason) {
        if (asking) await ask.return(refuse("upstream_interrupted")).catch(() => undefined);
        await cancelQuietly(inner?.upstream, reason);
      },
    },
    { highWaterMark: 0 },
  ).getReader();
  const codec: StreamCodec = {
    ...UNMETERED,
    push: (piece) => (inner === null ? piece : inner.codec.push(piece)),
    end: () => inner?.codec.end() ?? { complete: last !== null, last, errorReported: false },
  };
  return {
    kind: "stream",
    status: 200,
    headers: { ...EVENT_STREAM_HEADERS, ...headers },
    upstream: withKeepAlive(upstream, KEEP_ALIVE_MS),
    codec,
    head: [],
    inputCharacters: null,
    sender: SENDER,
    refusal: (ended) => (failed !== null && ended ? failed : (inner?.refusal?.(ended) ?? null)),
  };
}
