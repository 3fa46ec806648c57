import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { type RpcStream } from "./rpc-stream.ts";

/** Ends the stream after its answer, even if the server sends more or leaves the connection open. */
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
