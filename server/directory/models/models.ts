import type { Mode, Model, ModelCreate, ModelQuery, ModelUpdate } from "@gatehouse/contracts/models";
import type { UpstreamKey } from "@gatehouse/contracts/providers";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { recordChanges } from "../../store/records/record-changes.ts";
import { bindModels, unbindModels } from "../../store/groups/group-models.ts";
import { guardrailsAsking } from "../../store/policies/guardrail-configs.ts";
import {
  judgesByDefault,
  modelIdByName,
  modelStore,
  noteFormerName,
  recordHealth,
  type ModelInsert,
  type ModelPatch,
  type ModelRow,
} from "../../store/models/models.ts";
import { providerById, providerByKey, type ProviderRow } from "../../store/models/providers.ts";
import { knowledgeBasesEmbeddingWith } from "../../store/knowledge/knowledge-bases.ts";
import { cachesEmbeddingWith } from "../../store/models/semantic-cache-configs.ts";
import { policiesJudgedBy } from "../../store/policies/semantic-policies.ts";
import { lockModelNames, routingGroupMode } from "../../store/models/routing-groups.ts";
import type { Records } from "../writes/record-spec.ts";
import { invalidField, namedDependents, NAMES_LOOKED_FOR, records } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";
import { forgetItem } from "../limits/group-policies.ts";
import { filledFromCatalog } from "./catalog/fill.ts";
import { refuseRoutingGroupName } from "./model-names.ts";
import { readModel } from "./model-read.ts";
import { foldedChanges, PRICE_MEMBERS, priceColumns } from "./price-columns.ts";
import { originOf } from "./model-entry.ts";
import { checkGroups } from "../policies/bound-groups.ts";
import { checkAddress, newKey, providerToUse, sealedKey } from "./providers.ts";
import { findVirtualModel, listVirtualModels } from "./virtual-models.ts";

/** The columns that a body sets, except for modes, provider and key. Omitted members set none. */
function columns(write: Write, body: ModelUpdate): ModelPatch {
  const { provider: _provider, modes: _modes, mode: _mode, api_key: _apiKey, group_ids: _groupIds, ...rest } = body;
  const same = Object.fromEntries(Object.entries(rest).filter(([member]) => !PRICE_MEMBERS.has(member)));
  return { ...same, ...priceColumns(body), updated_at: write.now };
}

/** `mode` is the first of `modes`; either may be given alone. */
function modesOf(body: { mode?: Mode | undefined; modes?: Mode[] | undefined }, before: readonly string[]): string[] {
  const { mode, modes } = body;
  if (modes === undefined) return mode === undefined ? [...before] : [mode, ...before.filter((other) => other !== mode)];
  if (mode === undefined) return modes;
  // An unchanged `mode` sent along with new `modes` does not restrict them.
  if (!modes.includes(mode) && mode === before[0]) return modes;
  if (!modes.includes(mode)) throw invalidField("mode", "must be one of modes");
  return [mode, ...modes.filter((other) => other !== mode)];
}

/**
 * An admin who may write models may not read keys, so a key must not be sent to a new host. `ownKeyGoesTo` is where the
 * model's own key is currently sent; null if it has none.
 */
function guardKeys(
  next: { baseUrl: string | null; provider: ProviderRow; apiKey: UpstreamKey | null | undefined },
  ownKeyProvider: string | null,
): void {
  checkAddress(next.provider.api_format, next.baseUrl);
  if (next.apiKey != null) return;
  const address = originOf(next.baseUrl ?? next.provider.base_url);
  if (next.apiKey === undefined && ownKeyProvider !== null) {
    if (address !== originOf(ownKeyProvider)) throw invalidField("api_key", "must be sent again when the model moves to another host");
    return;
  }
  if (next.provider.api_key_sealed !== null && address !== originOf(next.provider.base_url)) {
    throw invalidField("api_key", "is required when base_url is on another host than the provider's");
  }
}

/** Resets the health, which does not apply to a different address, key or model. */
const UNPROBED: ModelPatch = { is_healthy: null, health_checked_at: null };

/** A member must serve the mode of its routing group. */
async function checkRoutingGroup(write: Write, tenantId: string, routingGroupId: string | null, modes: readonly string[]): Promise<void> {
  if (routingGroupId === null) return;
  const mode = await routingGroupMode(write.trx, tenantId, routingGroupId);
  if (mode === undefined) throw invalidField("routing_group_id", "is the id of no routing group of this tenant");
  if (!modes.includes(mode)) throw invalidField("routing_group_id", `names a group of the mode ${mode}, which this model does not serve`);
}

/** Guardrails refer to the model by name; after a rename they could not reach it, and would block every call. */
async function refuseRenamedGuard(write: Write, row: ModelRow): Promise<void> {
  const names = await guardrailsAsking(write.trx, row.tenant_id, [row.name], NAMES_LOOKED_FOR);
  const dependents = namedDependents("guardrail configurations", names);
  if (dependents.length > 0)
    throw new Refused(
      refuse("in_use", `This model cannot be renamed while ${dependents[0]} ask it by its name.`, { extra: { dependents } }),
    );
}

/** Grants the model to exactly these groups directly. */
async function setGroups(write: Write, tenantId: string, row: ModelRow, groupIds: readonly string[]): Promise<void> {
  await checkGroups(write, tenantId, groupIds, row.group_ids);
  for (const groupId of new Set(groupIds)) if (!row.group_ids.includes(groupId)) await bindModels(write.trx, tenantId, groupId, [row.id]);
  for (const groupId of row.group_ids) if (!groupIds.includes(groupId)) await unbindModels(write.trx, tenantId, groupId, [row.id]);
}

const stored = records<ModelRow, ModelInsert, ModelPatch, Model, ModelCreate, ModelUpdate, ModelQuery, string>({
  resource: "models",
  noun: "model",
  store: modelStore,
  read: readModel,
  tenantOf: (row) => row.tenant_id,
  begin: (write, tenantId) => lockModelNames(write.trx, tenantId),
  async takenBy(write, tenantId, candidate) {
    await refuseRoutingGroupName(write, tenantId, candidate.name);
    return modelIdByName(write.trx, tenantId, candidate.name);
  },
  async toInsert(write, tenantId, given) {
    const id = uuid();
    const provider = await providerToUse(write, tenantId, given.provider);
    const body = await filledFromCatalog(given, provider, write.now);
    guardKeys({ baseUrl: body.base_url ?? null, provider, apiKey: body.api_key }, null);
    const modes = body.modes === undefined ? [body.mode ?? "chat"] : modesOf(body, []);
    await checkRoutingGroup(write, tenantId, body.routing_group_id ?? null, modes);
    return {
      ...columns(write, body),
      id,
      tenant_id: tenantId,
      name: body.name,
      model_name: body.model_name ?? body.name,
      provider_id: provider.id,
      modes,
      ...sealedKey(write, "models", id, provider.api_format, body.api_key),
      created_at: write.now,
      updated_at: write.now,
    } as ModelInsert;
  },
  async toPatch(write, tenantId, row, given) {
    const body = { ...given, api_key: newKey(write, "models", row, given.api_key) };
    if (body.name !== undefined && body.name !== row.name) {
      await refuseRenamedGuard(write, row);
      await noteFormerName(write.trx, row, write.now);
    }
    const before = await providerById(write.trx, tenantId, row.provider_id);
    if (before === undefined) throw new Error("a model's provider is not there");
    const provider = body.provider === undefined ? before : await providerByKey(write.trx, tenantId, body.provider);
    if (provider === undefined) throw invalidField("provider", "is the provider_key of no provider of this tenant");
    const baseUrl = body.base_url === undefined ? row.base_url : body.base_url;
    guardKeys({ baseUrl, provider, apiKey: given.api_key }, row.api_key_sealed === null ? null : (row.base_url ?? before.base_url));
    const modes = modesOf(body, row.modes);
    await checkRoutingGroup(write, tenantId, body.routing_group_id === undefined ? row.routing_group_id : body.routing_group_id, modes);
    const isOther =
      provider.id !== row.provider_id ||
      baseUrl !== row.base_url ||
      (body.model_name ?? row.model_name) !== row.model_name ||
      body.api_key !== undefined;
    if (body.group_ids !== undefined) await setGroups(write, tenantId, row, body.group_ids);
    return {
      ...foldedChanges(row, write.now),
      ...columns(write, body),
      provider_id: provider.id,
      modes,
      ...sealedKey(write, "models", row.id, provider.api_format, body.api_key),
      ...(isOther ? UNPROBED : {}),
    };
  },
  async created(write, tenantId, row, body) {
    await setGroups(write, tenantId, row, body.group_ids ?? []);
  },
  async dependents(write, row) {
    const judges = await judgesByDefault(write.trx, row.tenant_id, row.id);
    const policies = await policiesJudgedBy(write.trx, row.tenant_id, row.id, NAMES_LOOKED_FOR);
    const caches = await cachesEmbeddingWith(write.trx, row.tenant_id, row.id, NAMES_LOOKED_FOR);
    const guardrails = await guardrailsAsking(write.trx, row.tenant_id, [row.id, row.name], NAMES_LOOKED_FOR);
    const knowledge = await knowledgeBasesEmbeddingWith(write.trx, row.tenant_id, row.id, NAMES_LOOKED_FOR);
    return [
      ...(judges ? ["the tenant's default_judge_model_id"] : []),
      ...namedDependents("semantic policies", policies),
      ...namedDependents("semantic cache configurations", caches),
      ...namedDependents("guardrail configurations", guardrails),
      ...namedDependents("knowledge bases", knowledge),
    ];
  },
  removing: (write, row) => forgetItem(write, row.tenant_id, "model", row.id),
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

/** The virtual models of routing groups are read like models but are not stored in this table; they change with their group. */
export const models: Records<Model, ModelCreate, ModelUpdate, ModelQuery> = {
  ...stored,
  list: (directory, tenantId, filters, page) =>
    filters.mode === "routing" ? listVirtualModels(directory, tenantId, filters, page) : stored.list(directory, tenantId, filters, page),
  get: async (directory, tenantId, id) => (await findVirtualModel(directory, tenantId, id)) ?? stored.get(directory, tenantId, id),
};

/** Records the result of a probe, and notifies the runtime processes if it changed. Not an admin log entry. */
export async function recordModelHealth(directory: Directory, tenantId: string, modelId: string, healthy: boolean): Promise<Date> {
  const at = new Date(directory.clock.now());
  await directory.db.transaction().execute(async (trx) => {
    const news = await recordHealth(trx, tenantId, modelId, healthy, at);
    if (news) await recordChanges(trx, [{ tenant_id: tenantId, topic: "policy" }]);
  });
  return at;
}
