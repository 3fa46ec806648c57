import type {
  SemanticCacheConfig,
  SemanticCacheConfigCreate,
  SemanticCacheConfigQuery,
  SemanticCacheConfigUpdate,
  SemanticCacheInvalidation,
} from "@gatehouse/contracts/semantic-cache";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { modelStore } from "../../store/models/models.ts";
import { knownGroups } from "../../store/groups/resource-groups.ts";
import {
  semanticCacheConfigIdByName,
  semanticCacheConfigStore,
  setSemanticCacheGroups,
  type SemanticCacheConfigInsert,
  type SemanticCacheConfigPatch,
  type SemanticCacheConfigRow,
} from "../../store/models/semantic-cache-configs.ts";
import { dropAnswers } from "../../store/models/semantic-cache-entries.ts";
import { invalidField, notFound, records } from "../writes/records.ts";
import type { Write } from "../writes/write.ts";

const RESOURCE = "semantic-cache-configs";
const NOUN = "semantic cache configuration";
const EXACT = { enabled: true, ttl_seconds: 3600 };
const SEMANTIC = { enabled: false, similarity_threshold: 0.95, ttl_seconds: 3600 };

function read(row: SemanticCacheConfigRow): SemanticCacheConfig {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    enabled: row.enabled,
    exact_match: row.exact_match,
    semantic_match: row.semantic_match,
    embedding_model_id: row.embedding_model_id,
    scope: row.scope as SemanticCacheConfig["scope"],
    max_temperature: row.max_temperature,
    include_tools: row.include_tools,
    group_ids: row.group_ids,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Ignores members that are undefined, so that they do not replace a value. */
function merged<T extends object>(base: T, given: { readonly [K in keyof T]?: T[K] | undefined } | undefined): T {
  return { ...base, ...Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined)) };
}

async function checkEmbeddingModel(write: Write, tenantId: string, semantic: boolean, modelId: string | null): Promise<void> {
  if (modelId === null) {
    if (semantic) throw invalidField("embedding_model_id", "is required when semantic_match is enabled");
    return;
  }
  const model = await modelStore.find(write.trx, tenantId, modelId);
  if (model === undefined) throw invalidField("embedding_model_id", "is no model of this tenant");
  if (!model.modes.includes("embedding")) throw invalidField("embedding_model_id", "is a model that does not serve embeddings");
}

async function checkedGroups(write: Write, tenantId: string, ids: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(ids)];
  const known = await knownGroups(write.trx, tenantId, wanted);
  const unknown = wanted.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidField("group_ids", `names no resource group of this tenant: ${unknown.slice(0, 5).join(", ")}`);
  return wanted;
}

/**
 * How answers may be reused, and for whom. The settings are part of the cache key, so answers stored under other settings
 * are never reused.
 */
export const semanticCacheConfigs = records<
  SemanticCacheConfigRow,
  SemanticCacheConfigInsert,
  SemanticCacheConfigPatch,
  SemanticCacheConfig,
  SemanticCacheConfigCreate,
  SemanticCacheConfigUpdate,
  SemanticCacheConfigQuery,
  string
>({
  resource: RESOURCE,
  noun: NOUN,
  store: semanticCacheConfigStore,
  read,
  tenantOf: (row) => row.tenant_id,
  takenBy: (write, tenantId, candidate) => semanticCacheConfigIdByName(write.trx, tenantId, candidate.name),
  async toInsert(write, tenantId, body) {
    const semantic = merged(SEMANTIC, body.semantic_match);
    await checkEmbeddingModel(write, tenantId, semantic.enabled, body.embedding_model_id ?? null);
    if (body.group_ids !== undefined) await checkedGroups(write, tenantId, body.group_ids);
    return {
      id: uuid(),
      tenant_id: tenantId,
      name: body.name,
      enabled: body.enabled ?? true,
      scope: body.scope ?? "group",
      exact_match: JSON.stringify(merged(EXACT, body.exact_match)),
      semantic_match: JSON.stringify(semantic),
      embedding_model_id: body.embedding_model_id ?? null,
      max_temperature: body.max_temperature ?? 0,
      include_tools: body.include_tools ?? false,
      generation: uuid(),
      created_at: write.now,
      updated_at: write.now,
    };
  },
  async created(write, tenantId, row, body) {
    if (body.group_ids !== undefined)
      await setSemanticCacheGroups(write.trx, tenantId, row.id, await checkedGroups(write, tenantId, body.group_ids));
  },
  async toPatch(write, tenantId, row, body) {
    const { exact_match: exact, semantic_match: given, group_ids: groupIds, ...rest } = body;
    // Each of them is replaced as a whole.
    const semantic = given === undefined ? row.semantic_match : merged(SEMANTIC, given);
    const model = body.embedding_model_id === undefined ? row.embedding_model_id : body.embedding_model_id;
    // Validated only if changed: its model may have been deleted since, which must not block an unrelated change.
    if (given !== undefined || body.embedding_model_id !== undefined) await checkEmbeddingModel(write, tenantId, semantic.enabled, model);
    if (groupIds !== undefined) await setSemanticCacheGroups(write.trx, tenantId, row.id, await checkedGroups(write, tenantId, groupIds));
    return {
      ...rest,
      ...(exact === undefined ? {} : { exact_match: JSON.stringify(merged(EXACT, exact)) }),
      semantic_match: JSON.stringify(semantic),
      updated_at: write.now,
    };
  },
  dependents: async () => [],
  notify: (write, row) => write.notify(row.tenant_id, "policy"),
});

async function locked(write: Write, tenantId: string, id: string): Promise<SemanticCacheConfigRow> {
  const row = await semanticCacheConfigStore.find(write.trx, tenantId, id, "lock");
  if (row === undefined) throw notFound(NOUN);
  return row;
}

/** Adds groups, or with `replace` replaces those bound before. Refuses with `already_bound` if nothing is left to add. */
export async function bindSemanticCache(
  write: Write,
  tenantId: string,
  id: string,
  groupIds: readonly string[],
  replace: boolean,
): Promise<{ bound: string[]; already_bound: string[]; group_ids: string[] }> {
  const row = await locked(write, tenantId, id);
  const wanted = await checkedGroups(write, tenantId, groupIds);
  const bound = wanted.filter((groupId) => !row.group_ids.includes(groupId));
  const already = wanted.filter((groupId) => row.group_ids.includes(groupId));
  if (!replace && bound.length === 0)
    throw new Refused(refuse("already_bound", "All of these groups are already bound to it.", { extra: { already_bound: already } }));
  const all = replace ? wanted : [...row.group_ids, ...bound];
  await setSemanticCacheGroups(write.trx, tenantId, id, all);
  const answer = { bound, already_bound: already, group_ids: all };
  write.stay({ ids: row.group_ids.toSorted() }, { ids: all.toSorted() }, answer);
  write.log({
    tenant_id: tenantId,
    action: "bind",
    resource: RESOURCE,
    resource_id: id,
    before: { group_ids: row.group_ids },
    after: { group_ids: all },
  });
  write.notify(tenantId, "policy");
  return answer;
}

/** Deletes stored answers; each process also drops those in its memory. */
export async function invalidateSemanticCache(
  write: Write,
  tenantId: string,
  id: string,
  body: SemanticCacheInvalidation,
): Promise<{ invalidated: number }> {
  await locked(write, tenantId, id);
  const invalidated = await dropAnswers(
    write.trx,
    { tenantId, configId: id },
    { ...(body.before === undefined ? {} : { before: new Date(body.before) }), ...(body.model === undefined ? {} : { model: body.model }) },
  );
  write.log({ tenant_id: tenantId, action: "invalidate", resource: RESOURCE, resource_id: id, after: { ...body, invalidated } });
  write.notify(tenantId, "policy");
  return { invalidated };
}
