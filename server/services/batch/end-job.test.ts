import { expect, test } from "bun:test";
import type { BatchJob } from "../../directory/batch/batch-store.ts";
import { jobEnder } from "./end-job.ts";

type Parts = Parameters<typeof jobEnder>[0];

/** Ends a job of two lines, one of them answered; returns its files and what it ended as. */
async function filesAfter(
  begun: object | undefined,
  isRecorded: boolean,
  recorded?: object | null,
): Promise<{ readonly files: Set<string>; readonly ended: string; readonly named: object | null }> {
  // Left by an earlier, recorded end.
  const files = new Set<string>(["file-of-row"]);
  let stored = 0;
  let named: object | null = null;
  const end = jobEnder({
    store: {
      beginEnd: async () => begun,
      reportedBatchEnd: async () => recorded,
      finish: async (_id: string, _runner: string, these: object) => void (named = these),
    },
    files: {
      find: async (_owner: object, id: string) => (files.has(id) ? { id } : { code: "file_not_found", message: "" }),
      store: async () => {
        const id = `file-${++stored}`;
        files.add(id);
        return { id };
      },
      delete: async (_owner: object, { id }: { id: string }) => files.delete(id),
    },
    calls: { recordEvent: async () => isRecorded },
    ...{ chain: "c", shipped: async () => {}, tenant: () => ({}), now: () => new Date() },
  } as unknown as Parts);
  const job = { id: "batch_1", tenant_id: "t", total_requests: 2, completed: 1, failed: 1, ends_as: "completed" } as BatchJob;
  const ended = await end(job, "runner").then(
    () => "ended",
    (error: Error) => error.message,
  );
  expect(stored).toBe(2);
  return { files, ended, named };
}

test("result files are kept when the job ends with them", async () => {
  expect((await filesAfter({ rowId: "r", doubtful: false }, true)).files).toEqual(new Set(["file-of-row", "file-1", "file-2"]));
});

test("result files are deleted when another process already ends the job", async () => {
  expect(await filesAfter(undefined, true)).toEqual({ files: new Set(["file-of-row"]), ended: "ended", named: null });
});

test("result files are deleted when the job's end cannot be recorded, because the next try stores them again", async () => {
  const { files, ended } = await filesAfter({ rowId: "r", doubtful: false }, false);
  expect([files.size, ended]).toEqual([1, "the row of the job's end is not stored"]);
});

test("a job whose end is already recorded ends with the files in that record, if they still exist", async () => {
  const begun = { rowId: "r", doubtful: true };
  const recorded = (id: string) => ({ output_file_id: id, error_file_id: null });
  const kept = await filesAfter(begun, true, recorded("file-of-row"));
  expect([kept.named, kept.files]).toEqual([{ output: "file-of-row", error: null }, new Set(["file-of-row"])]);
  const stored = { output: "file-1", error: "file-2" };
  // Its files were deleted, its content was erased, or the row was never written.
  for (const said of [recorded("file-gone"), null, undefined]) expect((await filesAfter(begun, true, said)).named).toEqual(stored);
});
