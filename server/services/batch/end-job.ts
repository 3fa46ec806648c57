import { repeatedHeaders } from "../../road/own-calls/repeated-headers.ts";
import type { BatchJob, BatchStore, JobOwner } from "../../directory/batch/batch-store.ts";
import type { Files } from "../../directory/files/stored-files.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { ulid } from "../../kernel/ids.ts";
import type { BackgroundCalls } from "../../road/own-calls/background-calls.ts";
import { type ResultFiles, type ResultsParts, storedResults } from "./stored-results.ts";

interface EndParts extends ResultsParts {
  readonly files: Pick<Files, "store" | "delete" | "find">;
  readonly store: BatchStore;
  readonly calls: Pick<BackgroundCalls, "recordEvent">;
  /** `chain`: the audit chain this process writes to. `shipped`: waits until everything in its journal is in the database. */
  readonly chain: string;
  readonly shipped: () => Promise<void>;
  readonly tenant: (id: string) => TenantSnapshot | null | Promise<TenantSnapshot | null>;
}

const NONE: ResultFiles = { output: null, error: null };

/**
 * Returns a function that writes a job's results to files, then the audit row of its end, then its final status. Another process may have
 * done part of it before; each end is recorded once.
 */
export function jobEnder({
  store,
  files,
  calls,
  chain,
  shipped,
  now,
  tenant: tenantOf,
}: EndParts): (job: BatchJob, runner: string) => Promise<void> {
  const areThere = async (owner: JobOwner, named: ResultFiles) => {
    for (const id of [named.output, named.error]) if (id !== null && isRefusal(await files.find(owner, id))) return false;
    return true;
  };
  return async (job, runner) => {
    const owner = { tenantId: job.tenant_id, groupId: job.resource_group_id, userId: job.end_user_id };
    const tenant = await tenantOf(job.tenant_id);
    const results = tenant === null ? NONE : await storedResults({ store, files, now }, job, owner, tenant);
    const wereStored = results !== null;
    const { output, error } = results ?? NONE;
    // Deletes the files this process stored: another process writes the job's end, with files of its own.
    const letGo = async () => {
      for (const id of [output, error]) if (id !== null) await files.delete(owner, { id });
    };
    const failed = job.ends_as === "failed";
    const at = now();
    const begun = await store.beginEnd(job.id, runner, { id: ulid(at.getTime()), chain });
    if (begun === undefined) return letGo();
    if (begun.doubtful) {
      await shipped();
      const batchEnd = await store.reportedBatchEnd(job.tenant_id, begun.rowId);
      if (batchEnd !== undefined) {
        const named =
          batchEnd === null || batchEnd.not_stored !== undefined
            ? null
            : { output: batchEnd.output_file_id, error: batchEnd.error_file_id };
        // The files that the row names are used if they still exist; otherwise those just stored.
        if (named === null || !(await areThere(owner, named))) return store.finish(job.id, runner, { output, error }, wereStored);
        await letGo();
        return store.finish(job.id, runner, named, true);
      }
    }
    const sealed = await calls.recordEvent(
      {
        audit: { proxyType: "batch", proxySubtype: "batch_end" },
        path: `/v1/proxy/batch/jobs/${job.id}`,
        headers: repeatedHeaders(job),
        ip: job.client_ip,
        parentId: job.request_id,
        rootTaskId: job.root_task_id,
        noted: {
          batch_end: {
            ...{ job_id: job.id, status: job.ends_as, total: job.total_requests, completed: job.completed, failed: job.failed },
            ...{ output_file_id: output, error_file_id: error, ...(wereStored ? {} : { not_stored: "file_storage_full" }) },
          },
        },
      },
      { tenantId: job.tenant_id, groupId: job.resource_group_id, keyId: job.api_key_id, userId: job.end_user_id },
      {
        status: 200,
        errorType: failed ? (job.error?.code ?? "internal_error") : null,
        errorMessage: failed ? (job.error?.message ?? null) : null,
      },
      { id: begun.rowId, timestamp: at.toISOString().replace("Z", "000Z") },
    );
    if (!sealed) {
      await letGo();
      throw new Error("the row of the job's end is not stored");
    }
    await store.finish(job.id, runner, { output, error }, wereStored);
  };
}
