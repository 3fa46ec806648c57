import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import type { BatchService } from "../../services/batch/batch-service.ts";
import type { FileService } from "../../services/files/caller.ts";
import { batchCancel, batchDetail, batchList, batchResults, batchSubmit } from "./jobs.ts";
import {
  messageBatchCancel,
  messageBatchCreate,
  messageBatchDelete,
  messageBatchDetail,
  messageBatchList,
  messageBatchResults,
  type MessageBatches,
} from "./message-batches.ts";
import { openaiBatchCancel, openaiBatchCreate, openaiBatchDetail, openaiBatchList } from "./openai-batches.ts";

interface BatchServices {
  readonly batches: BatchService;
  readonly files: FileService;
  /** Null to use the address by which each caller reached the gateway. */
  readonly publicUrl: string | null;
}

interface BatchRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly surface: (services: BatchServices) => Surface;
}

function route(
  method: BatchRoute["method"],
  path: string,
  proxySubtype: string,
  surface: (batches: BatchService, files: FileService, publicUrl: string | null) => Surface,
  body: GovernedRoute["body"] = false,
): BatchRoute {
  return {
    ...{ method, path, audit: { proxyType: "batch", proxySubtype }, body },
    surface: ({ batches, files, publicUrl }) => surface(batches, files, publicUrl),
  };
}

const JOBS = "/v1/proxy/batch/jobs";
const OPENAI = "/v1/proxy/llm/batches";
const ANTHROPIC = "/v1/messages/batches";

const ofMessages =
  (surface: (of: MessageBatches) => Surface) =>
  (batches: BatchService, _files: FileService, publicUrl: string | null): Surface =>
    surface({ batches, publicUrl });

/** All routes of batch jobs. */
export const BATCH_SURFACES: readonly BatchRoute[] = [
  route("POST", JOBS, "batch_submit", batchSubmit, "streamed"),
  route("GET", JOBS, "batch_list", batchList),
  route("GET", `${JOBS}/:batch_job_id`, "batch_detail", batchDetail),
  route("POST", `${JOBS}/:batch_job_id/cancel`, "batch_cancel", batchCancel),
  route("GET", `${JOBS}/:batch_job_id/results`, "batch_results", batchResults),
  route("POST", OPENAI, "batch_submit", openaiBatchCreate, true),
  route("GET", OPENAI, "batch_list", openaiBatchList),
  route("GET", `${OPENAI}/:batch_job_id`, "batch_detail", openaiBatchDetail),
  route("POST", `${OPENAI}/:batch_job_id/cancel`, "batch_cancel", openaiBatchCancel),
  route("POST", ANTHROPIC, "batch_submit", ofMessages(messageBatchCreate), "streamed"),
  route("GET", ANTHROPIC, "batch_list", ofMessages(messageBatchList)),
  route("GET", `${ANTHROPIC}/:batch_job_id`, "batch_detail", ofMessages(messageBatchDetail)),
  route("POST", `${ANTHROPIC}/:batch_job_id/cancel`, "batch_cancel", ofMessages(messageBatchCancel)),
  route("DELETE", `${ANTHROPIC}/:batch_job_id`, "batch_delete", messageBatchDelete),
  route("GET", `${ANTHROPIC}/:batch_job_id/results`, "batch_results", messageBatchResults),
];
