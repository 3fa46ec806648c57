/** Waits for the first piece, so that a chain that is not there is refused before the answer begins. */
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

/** An answer sent piece by piece as they are read, at the pace of its reader. With a name it is a file to be kept. */
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
