/** Waits for the first line, so that a chain that is not there is refused before the answer begins. */
async function stream(lines: AsyncGenerator<string>): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let ready: IteratorResult<string> | undefined = await lines.next();
  return new ReadableStream({
    async pull(controller) {
      const next = ready ?? (await lines.next());
      ready = undefined;
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value.endsWith("\n") ? next.value : `${next.value}\n`));
    },
    async cancel() {
      await lines.return(undefined);
    },
  });
}

/** An answer sent line by line as they are read, at the pace of its reader. */
export async function lineAnswer(lines: AsyncGenerator<string>, media: "application/jsonl" | "text/csv"): Promise<Response> {
  return new Response(await stream(lines), { headers: { "content-type": `${media}; charset=utf-8`, "cache-control": "no-store", "x-content-type-options": "nosniff" } });
}
