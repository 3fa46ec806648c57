import { expect, test } from "bun:test";
import type { BatchJob } from "../../directory/batch/batch-store.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import { refuse } from "../../kernel/errors.ts";
import { type ResultsParts, storedResults } from "./stored-results.ts";

const ENDED = Date.parse("2026-01-01T00:00:00Z");
const JOB = { id: "batch_1", completed: 1, failed: 1, total_requests: 2, finalizing_at: new Date(ENDED), cancelling_at: null } as BatchJob;
const OWNER = { tenantId: "t", groupId: "g", userId: null };

/** A file store with room for the given number of files. */
function storing(room: number, afterMs: number) {
  const seen: string[] = [];
  let stored = 0;
  const parts = {
    store: {
      linesAfter: async () => [],
      async explain(_: string, error: { code: string; message: string } | null) {
        seen.push(`explained: ${error?.code}`);
      },
    },
    files: {
      async store(...[, , , facts]: unknown[]) {
        if (stored >= room) return refuse("file_storage_full");
        stored++;
        seen.push(`stored: ${(facts as { displayName: string }).displayName}`);
        return { id: `file-${stored}` };
      },
      async delete(_: unknown, { id }: { id: string }) {
        seen.push(`deleted: ${id}`);
        return 1;
      },
    },
    now: () => new Date(ENDED + afterMs),
  } as unknown as ResultsParts;
  return { seen, write: () => storedResults(parts, JOB, OWNER, {} as TenantSnapshot) };
}

test("results are stored in an output file and an error file", async () => {
  const { seen, write } = storing(2, 0);
  expect(await write()).toEqual({ output: "file-1", error: "file-2" });
  expect(seen).toEqual(["stored: batch_1_output.jsonl", "stored: batch_1_error.jsonl"]);
});

test("results without room in the file storage wait and explain why, and no single file is left", async () => {
  const { seen, write } = storing(1, 86_399_000);
  expect(await write().catch((error: Error) => error.message)).toContain("results are not stored");
  expect(seen).toEqual(["stored: batch_1_output.jsonl", "deleted: file-1", "explained: file_storage_full"]);
});

test("a day later the job ends without result files", async () => {
  expect(await storing(0, 86_400_000).write()).toBeNull();
});
