import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { type RpcStream } from "./rpc-stream.ts";

/** The stream up to its answer: what a server sends after it, or its leaving the stream open, is nobody's business. */
export function untilAnswered(body: ReadableStream<Uint8Array>, codec: RpcStream): ReadableStreamDefaultReader<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (codec.answered) {
          controller.close();
          void cancelQuietly(reader);
          return;
        }
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  ).getReader();
}
