import { expect, test } from "bun:test";
import type { BatchJob } from "../../directory/batch/batch-store.ts";
import { jobEnder } from "./end-job.ts";

type Parts = Parameters<typeof jobEnder>[0];

/** Ends a job of two lines, one of them answered; what was stored for it and is there afterwards. */
async function filesAfter(
  begun: object | undefined,
  isRecorded: boolean,
): Promise<{ readonly files: Set<string>; readonly ended: string }> {
  const files = new Set<string>();
  let stored = 0;
  const end = jobEnder({
    store: { beginEnd: async () => begun, finish: async () => {} },
    files: {
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
  return { files, ended };
}

test("results that were stored are kept where the job ended with them", async () => {
  expect((await filesAfter({ rowId: "r", doubtful: false }, true)).files).toEqual(new Set(["file-1", "file-2"]));
});

test("results are let go of where somebody else has come to write the end of the job", async () => {
  expect(await filesAfter(undefined, true)).toEqual({ files: new Set(), ended: "ended" });
});

test("results are let go of where the end of the job cannot be recorded, as they are stored anew then", async () => {
  const { files, ended } = await filesAfter({ rowId: "r", doubtful: false }, false);
  expect([files.size, ended]).toEqual([0, "the row of the job's end is not stored"]);
});
