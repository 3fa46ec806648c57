import type { BatchJob, BatchStore, JobOwner } from "../../directory/batch/batch-store.ts";
import type { Files } from "../../directory/files/stored-files.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import { isRefusal, reasonOf, type Refusal } from "../../kernel/errors.ts";
import { ANSWERED, resultLines, UNANSWERED } from "./results.ts";

/** How long results wait for space in their group's file storage before the job ends without result files, milliseconds. */
const STORAGE_WAIT_MS = 86_400_000;

class NotStored extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(`results are not stored: ${reasonOf(refusal.message)}`);
    this.refusal = refusal;
  }
}

export interface ResultsParts {
  readonly store: Pick<BatchStore, "linesAfter" | "explain">;
  readonly files: Pick<Files, "store" | "delete">;
  readonly now: () => Date;
}

export interface ResultFiles {
  readonly output: string | null;
  readonly error: string | null;
}

/**
 * Writes a job's results to files, both or none. Null if there was no space for them for a day: the job then ends without files. Throws if
 * it should be tried again.
 */
export async function storedResults(
  { store, files, now }: ResultsParts,
  job: BatchJob,
  owner: JobOwner,
  tenant: TenantSnapshot,
): Promise<ResultFiles | null> {
  const stored = async (name: string, states: readonly number[]): Promise<string> => {
    const facts = { kind: "batch_output", purpose: "batch_output", displayName: `${job.id}_${name}.jsonl`, anySize: true } as const;
    const kept = { expiresInSeconds: job.results_expire_seconds };
    const file = await files.store(owner, tenant, resultLines(store, job, states), { ...facts, ...kept });
    if (isRefusal(file)) throw new NotStored(file);
    return file.id;
  };
  let output: string | null = null;
  try {
    output = job.completed === 0 ? null : await stored("output", ANSWERED);
    return { output, error: job.completed === job.total_requests ? null : await stored("error", UNANSWERED) };
  } catch (error) {
    if (output !== null) await files.delete(owner, { id: output });
    const { code = null, message = "" } = error instanceof NotStored ? error.refusal : {};
    if (code !== "file_storage_full") throw error;
    await store.explain(job.id, { code, message: `The results find no room. ${message}` });
    const since = job.cancelling_at ?? job.finalizing_at ?? now();
    if (now().getTime() - since.getTime() < STORAGE_WAIT_MS) throw error;
    return null;
  }
}
