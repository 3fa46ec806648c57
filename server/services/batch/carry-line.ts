import type { BatchJob, BatchStore, LineToRun } from "../../directory/batch/batch-store.ts";
import type { Holder } from "../../road/admission/gateway-tokens.ts";
import type { CarriedAnswer, CarriedCalls } from "../../road/carried-calls.ts";
import type { Surface } from "../../road/surface.ts";
import { JsonDocument } from "../../wire/document.ts";
import { BATCH_ENDPOINTS, type BatchEndpoint } from "./endpoints.ts";
import { withModel } from "./intake.ts";

const encoder = new TextEncoder();
/** How long it is believed which value a key has now. */
const BELIEVED_MS = 1_000;
const NO_KEY = "0".repeat(64);

/** Carries the lines of jobs in the name of whoever submitted them. */
export function lineCarrier(
  calls: Pick<CarriedCalls, "carry">,
  store: Pick<BatchStore, "keyHash">,
  surfaces: Readonly<Record<BatchEndpoint, Surface>>,
): (job: BatchJob, line: LineToRun) => Promise<CarriedAnswer | null> {
  const hashes = new Map<string, { readonly hash: Promise<string | null>; readonly at: number }>();
  const hashOf = (tenantId: string, keyId: string): Promise<string | null> => {
    const known = hashes.get(keyId);
    if (known !== undefined && performance.now() - known.at < BELIEVED_MS) return known.hash;
    if (hashes.size > 1_000) hashes.clear();
    const hash = store.keyHash(tenantId, keyId);
    hash.catch(() => hashes.delete(keyId));
    hashes.set(keyId, { hash, at: performance.now() });
    return hash;
  };
  const holderOf = async (job: BatchJob): Promise<Holder> => {
    const { api_key_id: keyId, end_user_id: userId, tenant_id: tenantId } = job;
    if (keyId !== null || userId === null) return { kind: "key", hash: (keyId === null ? null : await hashOf(tenantId, keyId)) ?? NO_KEY };
    return { kind: "user", tenantId, userId, since: job.created_at.getTime() };
  };
  return async (job, line) => {
    // The directory cannot be asked: not the caller's fault, and no reason to end a job.
    const holder = await holderOf(job).catch(() => null);
    if (holder === null) return null;
    const endpoint = job.endpoint as BatchEndpoint;
    const document = JsonDocument.read(encoder.encode(line.body));
    const body = document instanceof JsonDocument ? withModel(document, { model: job.model, modelId: job.model_id }) : line.body;
    const headers = new Headers({
      "content-type": "application/json",
      "x-resource-group": job.resource_group_id,
      "idempotency-key": `${job.id}:${line.line}`,
    });
    if (job.correlation_id !== null) headers.set("x-correlation-id", job.correlation_id);
    return calls.carry({
      surface: surfaces[endpoint],
      audit: { proxyType: "batch", proxySubtype: BATCH_ENDPOINTS[endpoint].subtype },
      path: `/v1/proxy/batch/jobs/${job.id}/lines/${line.line}`,
      headers,
      body: encoder.encode(body),
      ip: job.client_ip,
      holder,
      groupId: job.resource_group_id,
      parentId: job.id,
      rootTaskId: job.root_task_id,
      noted: { batch: { job_id: job.id, line: line.line, custom_id: line.custom_id, attempt: line.attempt } },
    });
  };
}
