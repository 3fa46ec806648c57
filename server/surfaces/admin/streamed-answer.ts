/** Waits for the first piece, so that a missing chain is refused before the response begins. */
async function stream(pieces: AsyncGenerator<string>): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let ready: IteratorResult<string> | undefined = await pieces.next();
  return new ReadableStream({
    async pull(controller) {
      const next = ready ?? (await pieces.next());
      ready = undefined;
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });
}

/** A response streamed piece by piece at the pace of its reader. With a name it is a download. */
export async function streamedAnswer(
  pieces: AsyncGenerator<string>,
  media: "application/jsonl" | "application/json" | "text/csv",
  fileName?: string,
): Promise<Response> {
  const kept: Record<string, string> = fileName === undefined ? {} : { "content-disposition": `attachment; filename="${fileName}"` };
  return new Response(await stream(pieces), {
    headers: { "content-type": `${media}; charset=utf-8`, "cache-control": "no-store", "x-content-type-options": "nosniff", ...kept },
  });
}
