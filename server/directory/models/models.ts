import type { Model, ModelCreate, ModelQuery, ModelUpdate } from "@gatehouse/contracts/models";
import { uuid } from "../../kernel/ids.ts";
import { microsFromUsd, usdFromMicros } from "../../kernel/money.ts";
import { bindModels } from "../../store/group-models.ts";
import { judgesByDefault, modelIdByName, modelStore, type ModelInsert, type ModelPatch, type ModelRow } from "../../store/models.ts";
import { providerById, providerByKey, type ProviderRow } from "../../store/providers.ts";
import { knownGroups } from "../../store/resource-groups.ts";
import { invalidField, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";
import { originOf, sealedKey } from "./providers.ts";

type Mode = Model["mode"];

const usd = (micros: number | null): number | null => (micros === null ? null : usdFromMicros(micros));

function read(row: ModelRow): Model {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    model_name: row.model_name,
    provider: row.provider_key,
    provider_id: row.provider_id,
    mode: (row.modes[0] ?? "chat") as Mode,
    modes: row.modes as Mode[],
    enabled: row.enabled,
    description: row.description,
    base_url: row.base_url,
    has_api_key: row.api_key_sealed !== null,
    api_key_hint: row.api_key_hint,
    default_temperature: row.default_temperature,
    default_max_tokens: row.default_max_tokens,
    system_prompt: row.system_prompt,
    input_cost_per_million_tokens: usd(row.input_cost),
    output_cost_per_million_tokens: usd(row.output_cost),
    cache_read_cost_per_million_tokens: usd(row.cache_read_cost),
    cache_write_cost_per_million_tokens: usd(row.cache_write_cost),
    context_window: row.context_window,
    max_output_tokens: row.max_output_tokens,
    supports_vision: row.supports_vision,
    supports_tools: row.supports_tools,
    supports_file_uploads: row.supports_file_uploads,
    supports_streaming: row.supports_streaming,
    rate_limit_rpm: row.rate_limit_rpm,
    rate_limit_tpm: row.rate_limit_tpm,
    max_concurrent_requests: row.max_concurrent_requests,
    residency_region: row.residency_region,
    icon_url: row.icon_url,
    group_ids: row.group_ids,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The columns a body sets, but for its modes and its key. A member it leaves out sets none. */
async function columns(write: Write, tenantId: string, body: ModelUpdate): Promise<ModelPatch> {
  const {
    provider,
    modes: _modes,
    mode: _mode,
    api_key: _apiKey,
    input_cost_per_million_tokens: input,
    output_cost_per_million_tokens: output,
    cache_read_cost_per_million_tokens: cacheRead,
    cache_write_cost_per_million_tokens: cacheWrite,
    ...same
  } = body;
  const patch: ModelPatch = { ...same, updated_at: write.now };
  if (provider !== undefined) {
    const found = await providerByKey(write.trx, tenantId, provider);
    if (found === undefined) throw invalidField("provider", "is the provider_key of no provider of this tenant");
    patch.provider_id = found.id;
  }
  for (const [column, price] of [["input_cost", input], ["output_cost", output], ["cache_read_cost", cacheRead], ["cache_write_cost", cacheWrite]] as const) {
    if (price !== undefined) patch[column] = price === null ? null : microsFromUsd(price);
  }
  return patch;
}

/** `mode` stands first among `modes`; one of them given alone says enough. */
function modesOf(body: { mode?: Mode | undefined; modes?: Mode[] | undefined }, before: readonly string[]): string[] {
  const { mode, modes } = body;
  if (modes === undefined) return mode === undefined ? [...before] : [mode, ...before.filter((other) => other !== mode)];
  if (mode === undefined) return modes;
  if (!modes.includes(mode)) throw invalidField("mode", "must be one of modes");
  return [mode, ...modes.filter((other) => other !== mode)];
}

/**
 * A key goes only to the host it was given for: whoever may write models may not read keys, and a new address would
 * hand them out. `ownKeyGoesTo` is where the model's own key goes now, null when it has none.
 */
function guardKeys(next: { baseUrl: string | null; provider: ProviderRow; apiKey: string | null | undefined }, ownKeyGoesTo: string | null): void {
  if (next.apiKey != null) return;
  const address = originOf(next.baseUrl ?? next.provider.base_url);
  if (next.apiKey === undefined && ownKeyGoesTo !== null) {
    if (address !== originOf(ownKeyGoesTo)) throw invalidField("api_key", "must be sent again when the model moves to another host");
    return;
  }
  if (next.provider.api_key_sealed !== null && address !== originOf(next.provider.base_url)) {
    throw invalidField("api_key", "is required when base_url is on another host than the provider's");
  }
}

export const models = records<ModelRow, ModelInsert, ModelPatch, Model, ModelCreate, ModelUpdate, ModelQuery, string>({
  resource: "models",
  noun: "model",
  store: modelStore,
  read,
  tenantOf: (row) => row.tenant_id,
  twin: (write, tenantId, candidate) => modelIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    const id = uuid();
    const { group_ids: _groupIds, ...rest } = body;
    const given = await columns(write, tenantId, rest);
    const provider = await providerById(write.trx, tenantId, given.provider_id as string);
    if (provider === undefined) throw new Error("a model's provider is not there");
    guardKeys({ baseUrl: body.base_url ?? null, provider, apiKey: body.api_key }, null);
    return {
      ...given,
      id,
      tenant_id: tenantId,
      name: body.name,
      model_name: body.model_name ?? body.name,
      provider_id: provider.id,
      modes: body.modes === undefined ? [body.mode ?? "chat"] : modesOf(body, []),
      ...sealedKey(write, "models", id, body.api_key),
      created_at: write.now,
      updated_at: write.now,
    } as ModelInsert;
  },
  async toPatch(write, tenantId, row, body) {
    const patch = await columns(write, tenantId, body);
    const provider = await providerById(write.trx, tenantId, (patch.provider_id as string | undefined) ?? row.provider_id);
    const before = await providerById(write.trx, tenantId, row.provider_id);
    if (provider === undefined || before === undefined) throw new Error("a model's provider is not there");
    const baseUrl = body.base_url === undefined ? row.base_url : body.base_url;
    guardKeys({ baseUrl, provider, apiKey: body.api_key }, row.api_key_sealed === null ? null : (row.base_url ?? before.base_url));
    return { ...patch, modes: modesOf(body, row.modes), ...sealedKey(write, "models", row.id, body.api_key) };
  },
  async created(write, tenantId, row, body) {
    const groupIds = [...new Set(body.group_ids ?? [])];
    const known = await knownGroups(write.trx, tenantId, groupIds);
    groupIds.forEach((groupId) => {
      if (!known.has(groupId)) throw invalidField("group_ids", `names no resource group of this tenant: ${groupId}`);
    });
    for (const groupId of groupIds) await bindModels(write.trx, tenantId, groupId, [row.id]);
  },
  dependents: async (write, row) => ((await judgesByDefault(write.trx, row.tenant_id, row.id)) ? ["the tenant's default_judge_model_id"] : []),
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});
