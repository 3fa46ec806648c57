import { expect, test } from "bun:test";
import { refuse } from "../../kernel/errors.ts";
import type { BatchService } from "../../services/batch/batch-service.ts";
import type { FileService } from "../../services/files/caller.ts";
import { openaiBatchCreate } from "./openai-batches.ts";

test("a batch refused before its input file is read closes the file", async () => {
  let isClosed = false;
  const bytes = new ReadableStream<Uint8Array>({ cancel: () => void (isClosed = true) }, { highWaterMark: 0 });
  const files = { find: async () => ({ size_bytes: 3 }), open: async () => bytes } as unknown as FileService;
  const batches = { submit: async () => refuse("too_many_uploads") } as unknown as BatchService;
  const call = { identity: {}, scope: {}, tenant: {}, row: {} } as never;
  const body = { input_file_id: "file-1", endpoint: "/v1/chat/completions", completion_window: "24h" };
  const refused = await openaiBatchCreate(batches, files).read(call, new TextEncoder().encode(JSON.stringify(body)));
  expect([refused, isClosed]).toEqual([expect.objectContaining({ code: "too_many_uploads" }), true]);
});
