/** A request's body for a reader that may cancel it: what is left can then still be read from the request itself. */
export function keptBody(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= body.getReader();
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => reader?.releaseLock(),
    },
    { highWaterMark: 0 },
  );
}
