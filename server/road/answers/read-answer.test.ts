import { expect, test } from "bun:test";
import { readAnswerBody } from "./read-answer.ts";

const MIB = new Uint8Array(1024 * 1024);

/** A body of `count` MiB, generated as it is read. */
function ofMebibytes(count: number, headers: Record<string, string>): Response {
  let left = count;
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(MIB);
        else controller.close();
      },
    }),
    { headers },
  );
}

test("an answer is read up to 64 MiB, with or without content encoding", async () => {
  expect((await readAnswerBody(ofMebibytes(64, {}))).byteLength).toBe(64 * MIB.byteLength);
  for (const headers of [{}, { "content-encoding": "gzip", "content-length": "65536" }] as Record<string, string>[]) {
    const problem: unknown = await readAnswerBody(ofMebibytes(65, headers)).catch((error: unknown) => error);
    expect(String(problem)).toContain("larger than 64 MiB");
  }
});
