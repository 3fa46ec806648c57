import { bulkHealth, bulkHealthBody, type ModelHealth, modelHealth } from "@gatehouse/contracts/model-health";
import { recordModelHealth } from "../../../directory/models/models.ts";
import { probedModels } from "../../../directory/models/probed-models.ts";
import type { ModelEntry } from "../../../directory/snapshot.ts";
import { probe } from "../../../services/models/routing/probe.ts";
import { notFound } from "../../../directory/writes/records.ts";
import { invalidFields } from "../../../kernel/errors.ts";
import { operation, type AdminOperation } from "../operation.ts";
import { idOf } from "../resource.ts";
import type { AdminServices } from "../services.ts";

const PATH = "/v1/admin/llms";
/** Probes in progress at once. */
const AT_ONCE = 8;
const probing = { tag: "Models", access: "models:write", reach: "one" } as const;

export const modelHealthOperations: readonly AdminOperation[] = [
  operation({
    ...probing,
    method: "POST",
    path: `${PATH}/{id}/health-check`,
    subject: "models",
    summary: "Probe a model",
    description: "Asks the provider for the least it can answer, within 15 seconds, and keeps what it found as is_healthy.",
    answer: { status: 200, about: "What the probe found", schema: modelHealth },
    async run(call) {
      const model = (await probedModels(call.services.directory, call.tenantId)).get(idOf(call));
      if (model === undefined) throw notFound("model");
      return probed(call.services, call.tenantId, model);
    },
  }),
  operation({
    ...probing,
    method: "POST",
    path: `${PATH}/bulk-health-check`,
    summary: "Probe many models",
    description: `All enabled models of the tenant, or those named; ${AT_ONCE} at a time.`,
    body: bulkHealthBody,
    answer: { status: 200, about: "What the probes found", schema: bulkHealth },
    async run(call) {
      const all = await probedModels(call.services.directory, call.tenantId);
      const requestedModels =
        call.body.model_ids === undefined
          ? [...all.values()].filter((model) => model.enabled)
          : call.body.model_ids.map((id) => known(all, id));
      const results: ModelHealth[] = [];
      const waiting = [...new Set(requestedModels)].values();
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (const model of waiting) results.push(await probed(call.services, call.tenantId, model));
        }),
      );
      results.sort((a, b) => (a.name < b.name ? -1 : 1));
      return { results, total: results.length, healthy: results.filter(({ is_healthy }) => is_healthy).length };
    },
  }),
];

function known(models: ReadonlyMap<string, ModelEntry>, id: string): ModelEntry {
  const model = models.get(id);
  if (model === undefined) throw invalidFields("invalid_body", [{ field: "model_ids", message: `names no model of this tenant: ${id}` }]);
  return model;
}

async function probed(services: AdminServices, tenantId: string, model: ModelEntry): Promise<ModelHealth> {
  const { healthy, detail, latencyMs } = await probe(model, services.upstream);
  const at = await recordModelHealth(services.directory, tenantId, model.id, healthy);
  return { id: model.id, name: model.name, is_healthy: healthy, detail, latency_ms: latencyMs, health_checked_at: at.toISOString() };
}
