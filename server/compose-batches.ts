import { BatchRecords } from "./directory/batch/batch-records.ts";
import { LineQueue } from "./directory/batch/line-queue.ts";
import type { Configuration } from "./kernel/configuration.ts";
import { closeRecord } from "./road/record/finish.ts";
import type { OpenCalls } from "./road/open-calls.ts";
import type { Road } from "./road/road.ts";
import type { Services } from "./routes.ts";
import { openBatches } from "./services/batch/batch-service.ts";
import type { BatchParts } from "./services/batch/batch-parts.ts";
import { FilesInMessages } from "./services/files/in-messages.ts";
import { lineSurfaces } from "./surfaces/batch/line-surfaces.ts";
import type { Database } from "./store/database.ts";
import { withFiles } from "./surfaces/files/with-files.ts";
import { sha256Hex } from "./kernel/secrets.ts";

const LINE = { proxyType: "batch", proxySubtype: "batch_line" } as const;
const END = { proxyType: "batch", proxySubtype: "batch_end" } as const;

type Given = Pick<BatchParts, "snapshots" | "clock" | "log"> &
  Pick<Services, "models" | "items" | "files"> & { readonly db: Database; readonly owner: string };

/** Batch jobs, whose lines travel the road like calls of their own. */
export function batchesOn(config: Pick<Configuration, "batchLinesAtOnce">, road: Road, calls: OpenCalls, given: Given) {
  const { models, items, files } = given;
  const inMessages = new FilesInMessages(files);
  const surfaces = lineSurfaces(models, items);
  return openBatches({
    ...given,
    records: new BatchRecords(given),
    queue: new LineQueue(given),
    linesAtOnce: config.batchLinesAtOnce,
    calls,
    carry: (endpoint, request) => road.carry({ surface: withFiles(inMessages, surfaces[endpoint]), audit: LINE }, request),
    recordEnd: (job) => recordEnd(calls, job),
  });
}

/** Says in the record how a job ended: it is told there though nobody called. */
async function recordEnd(calls: OpenCalls, job: Parameters<BatchParts["recordEnd"]>[0]): Promise<void> {
  const { total, completed, failed, cancelled, expired } = job;
  const call = calls.start(
    { method: "POST", url: `http://gateway/v1/proxy/batch/jobs/${job.id}`, headers: new Headers() },
    job.client_ip,
    END,
  );
  Object.assign(call.row, {
    tenant_id: job.tenant_id,
    resource_group_id: job.resource_group_id,
    api_key_id: job.api_key_id,
    gateway_user_id: job.end_user_id,
    subject_kind: job.end_user_id === null ? "service" : "user",
    subject_id: job.end_user_id ?? job.api_key_id,
    root_task_id: job.root_task_id,
    correlation_id: job.correlation_id,
    parent_request_id: job.submitted_by_call,
    custom_metadata: {
      batch: {
        job_id: job.id,
        status: job.status,
        counts: { total, completed, failed, cancelled, expired },
        output_file_id: job.output_file_id,
      },
    },
  });
  call.identity = {
    tenantId: job.tenant_id,
    credentialId: job.api_key_id ?? job.end_user_id ?? "",
    credentialName: job.credential_name,
    userId: job.end_user_id,
    username: null,
  };
  const failure = job.status === "failed" ? (job.error ?? null) : null;
  const outcome = { status: 200, errorType: failure?.code ?? null, errorMessage: failure?.message ?? null };
  closeRecord(call, outcome, { bytes: 0, hash: sha256Hex(new Uint8Array(0)), preview: null, headers: {} });
  await calls.seal(call);
}
