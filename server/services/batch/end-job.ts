import type { BatchJob, BatchStore } from "../../directory/batch/batch-store.ts";
import type { Files } from "../../directory/files/stored-files.ts";
import type { TenantSnapshot } from "../../directory/snapshot.ts";
import { ulid } from "../../kernel/ids.ts";
import { isRefusal, reasonOf } from "../../kernel/errors.ts";
import type { CarriedCalls } from "../../road/carried-calls.ts";
import { ANSWERED, resultLines, UNANSWERED } from "./results.ts";

interface EndParts {
  readonly store: BatchStore;
  readonly files: Pick<Files, "store">;
  readonly calls: Pick<CarriedCalls, "tell">;
  /** The chain that this process writes to, and a wait until all that is in its journal is in the database. */
  readonly chain: string;
  readonly shipped: () => Promise<void>;
  readonly now: () => Date;
  readonly tenant: (id: string) => TenantSnapshot | null | Promise<TenantSnapshot | null>;
}

/** Writes a job's results to files, the row of its end, and then what it ended as. */
export function jobEnder({
  store,
  files,
  calls,
  chain,
  shipped,
  now,
  tenant: tenantOf,
}: EndParts): (job: BatchJob, runner: string) => Promise<void> {
  return async (job, runner) => {
    const owner = { tenantId: job.tenant_id, groupId: job.resource_group_id, userId: job.end_user_id };
    const tenant = await tenantOf(job.tenant_id);
    const stored = async (name: string, states: readonly number[]): Promise<string | null> => {
      if (tenant === null) return null;
      const facts = { kind: "batch_output", purpose: "batch_output", displayName: `${job.id}_${name}.jsonl` } as const;
      const file = await files.store(owner, tenant, resultLines(store, job, states), facts);
      if (isRefusal(file)) throw new Error(`results are not stored: ${reasonOf(file.message)}`);
      return file.id;
    };
    const output = job.completed === 0 ? null : await stored("output", ANSWERED);
    const error = job.completed === job.total_requests ? null : await stored("error", UNANSWERED);
    const failed = job.ends_as === "failed";
    const at = now();
    const begun = await store.beginEnd(job.id, runner, { id: ulid(at.getTime()), chain });
    if (begun === undefined) return;
    if (begun.doubtful) {
      await shipped();
      if ((await store.recorded(job.tenant_id, [begun.rowId])).has(begun.rowId)) return store.finish(job.id, runner, { output, error });
    }
    const sealed = await calls.tell(
      {
        audit: { proxyType: "batch", proxySubtype: "batch_end" },
        path: `/v1/proxy/batch/jobs/${job.id}`,
        headers: new Headers(job.correlation_id === null ? {} : { "x-correlation-id": job.correlation_id }),
        ip: job.client_ip,
        parentId: job.request_id,
        rootTaskId: job.root_task_id,
        noted: {
          batch_end: {
            ...{ job_id: job.id, status: job.ends_as, total: job.total_requests, completed: job.completed, failed: job.failed },
            ...{ output_file_id: output, error_file_id: error },
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
    if (!sealed) throw new Error("the row of the job's end is not stored");
    await store.finish(job.id, runner, { output, error });
  };
}
