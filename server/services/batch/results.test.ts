import { expect, test } from "bun:test";
import type { BatchJob, BatchLine } from "../../directory/batch/batch-store.ts";
import { streamOfPieces } from "../../kernel/http/stream-of-pieces.ts";
import { resultPage } from "./results.ts";

test("a page of results is one JSON document, although it is read in several parts", async () => {
  const reads: (readonly number[])[] = [];
  const store = {
    async firstLinesOf(_: object, lines: readonly number[]) {
      reads.push(lines);
      return lines
        .slice(0, 2)
        .map((line) => ({ job_id: "batch_1", line, custom_id: `c${line}`, state: 2, status_code: 200, request_id: "r", result: "{}" }));
    },
  };
  const pages = resultPage(store as never, { ends_as: "completed" } as BatchJob, [3, 4, 5], { total: 9, page: 2, page_size: 3 });
  const page = JSON.parse(await new Response(streamOfPieces(pages) as ReadableStream<Uint8Array<ArrayBuffer>>).text());
  expect(page).toMatchObject({ total: 9, page: 2, page_size: 3 });
  expect(page.results.map(({ custom_id }: Pick<BatchLine, "custom_id">) => custom_id)).toEqual(["c3", "c4", "c5"]);
  expect(reads).toEqual([[3, 4, 5], [5]]);
});
