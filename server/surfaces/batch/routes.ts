import type { GovernedRoute } from "../../road/road.ts";
import type { Surface } from "../../road/surface.ts";
import type { BatchService } from "../../services/batch/batch-service.ts";
import { batchCancel, batchDetail, batchList, batchResults, batchSubmit } from "./jobs.ts";
import { openaiBatchCancel, openaiBatchDetail, openaiBatches, openaiBatchSubmit } from "./openai-batches.ts";

interface BatchServices {
  readonly batches: BatchService;
}

interface BatchRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly surface: (services: BatchServices) => Surface;
}

function route(method: BatchRoute["method"], path: string, proxySubtype: string, surface: (batches: BatchService) => Surface): BatchRoute {
  const isSubmit = proxySubtype === "batch_submit";
  return { method, path, surface: ({ batches }) => surface(batches), audit: { proxyType: "batch", proxySubtype }, body: isSubmit };
}

const JOBS = "/v1/proxy/batch/jobs";
const OPENAI = "/v1/proxy/llm/batches";

/** Every route of batch jobs. */
export const BATCH_SURFACES: readonly BatchRoute[] = [
  route("POST", JOBS, "batch_submit", batchSubmit),
  route("GET", JOBS, "batch_list", batchList),
  route("GET", `${JOBS}/:batch_job_id`, "batch_detail", batchDetail),
  route("POST", `${JOBS}/:batch_job_id/cancel`, "batch_cancel", batchCancel),
  route("GET", `${JOBS}/:batch_job_id/results`, "batch_results", batchResults),
  route("POST", OPENAI, "batch_submit", openaiBatchSubmit),
  route("GET", OPENAI, "batch_list", openaiBatches),
  route("GET", `${OPENAI}/:batch_id`, "batch_detail", openaiBatchDetail),
  route("POST", `${OPENAI}/:batch_id/cancel`, "batch_cancel", openaiBatchCancel),
];
