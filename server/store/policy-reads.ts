import { sql } from "kysely";
import { type ArgumentPolicyRow, readArgumentPolicies } from "./argument-policies.ts";
import type { Database } from "./database.ts";
import type { DataRetention, ModelTable, ProviderTable, RoutingGroupTable } from "./schema.ts";
import type { McpServerTable, ServerConfigTable, VirtualServerTable } from "./tables/tools.ts";
import { type PolicyRows, readPolicyRows } from "./group-policies.ts";
import { readSemanticCacheConfigs, type SemanticCacheConfigRow } from "./semantic-cache-configs.ts";
import { readSemanticPolicies, type SemanticPolicyRow } from "./semantic-policies.ts";
import type { GuardrailConfigTable } from "./tables/policies.ts";
import type { Selectable } from "kysely";

/** What the runtime plane reads to compile its policies: once for each change, never for a call in steady state. */

export interface TenantPolicyRows extends PolicyRows {
  readonly tenant: {
    id: string;
    enabled: boolean;
    data_retention: DataRetention;
    allowed_regions: string[];
    default_judge_model_id: string | null;
  };
  readonly providers: Selectable<ProviderTable>[];
  readonly models: Selectable<ModelTable>[];
  readonly routing_groups: Selectable<RoutingGroupTable>[];
  readonly mcp_servers: Selectable<McpServerTable>[];
  readonly server_configs: Selectable<ServerConfigTable>[];
  readonly virtual_servers: Selectable<VirtualServerTable>[];
  /** Those switched on. */
  readonly guardrail_configs: Selectable<GuardrailConfigTable>[];
  readonly argument_policies: ArgumentPolicyRow[];
  readonly semantic_caches: SemanticCacheConfigRow[];
  readonly semantic_policies: SemanticPolicyRow[];
}

export async function readTenantPolicy(db: Database, tenantId: string): Promise<TenantPolicyRows | null> {
  // One transaction, so that a model never refers to a provider the other query did not see yet.
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (trx) => {
      const tenant = await trx
        .selectFrom("tenants")
        .select(["id", "enabled", "data_retention", "allowed_regions", "default_judge_model_id"])
        .where("id", "=", tenantId)
        .executeTakeFirst();
      if (tenant === undefined) return null;
      const providers = await trx.selectFrom("providers").selectAll().where("tenant_id", "=", tenantId).execute();
      const models = await trx.selectFrom("models").selectAll().where("tenant_id", "=", tenantId).orderBy("name").execute();
      const routingGroups = await trx.selectFrom("routing_groups").selectAll().where("tenant_id", "=", tenantId).orderBy("id").execute();
      const mcpServers = await trx.selectFrom("mcp_servers").selectAll().where("tenant_id", "=", tenantId).execute();
      const serverConfigs = await trx.selectFrom("server_configs").selectAll().where("tenant_id", "=", tenantId).execute();
      const virtualServers = await trx.selectFrom("virtual_servers").selectAll().where("tenant_id", "=", tenantId).execute();
      const guardrails = await trx
        .selectFrom("guardrail_configs")
        .selectAll()
        .where("tenant_id", "=", tenantId)
        .where("enabled", "=", true)
        .orderBy("name")
        .execute();
      const semantic = {
        semantic_caches: await readSemanticCacheConfigs(trx, tenantId),
        semantic_policies: await readSemanticPolicies(trx, tenantId),
      };
      return {
        tenant,
        providers,
        models,
        routing_groups: routingGroups,
        mcp_servers: mcpServers,
        server_configs: serverConfigs,
        virtual_servers: virtualServers,
        guardrail_configs: guardrails,
        argument_policies: await readArgumentPolicies(trx, tenantId),
        ...semantic,
        ...(await readPolicyRows(trx, tenantId)),
      };
    });
}

/** What is bound to a group itself. */
interface GroupBindings {
  readonly model_ids: readonly string[];
  readonly config_ids: readonly string[];
  /** Models and virtual models that the binding keeps out of the portal's picker, or offers there. */
  readonly hidden_model_ids: readonly string[];
  readonly shown_model_ids: readonly string[];
}

interface GroupPlace {
  /** The group asked for. */
  readonly leaf: string;
  /** One group of its chain: itself at depth 0, then its parents up to the root. */
  readonly id: string;
  readonly name: string;
  readonly depth: number;
  /** Whether what is bound at `id` reaches `leaf`. */
  readonly grants: boolean;
}

/** With the bindings that reach `leaf`: none above a group that does not inherit. */
export interface GroupChainRow extends GroupPlace, GroupBindings {}

const NOTHING_BOUND: GroupBindings = { model_ids: [], config_ids: [], hidden_model_ids: [], shown_model_ids: [] };

/**
 * The chains of the given groups, each from the group up to its root. A group of another tenant is not there. What is
 * bound to a group is read once, however many chains it stands in: thousands may hang below one root.
 */
export async function readGroupChains(db: Database, tenantId: string, groupIds: readonly string[]): Promise<GroupChainRow[]> {
  const { rows } = await sql<GroupPlace>`
    WITH RECURSIVE chain AS (
      SELECT g.id AS leaf, g.id, g.parent_group_id, g.name, g.inherit_resources, 0 AS depth, true AS grants
        FROM resource_groups g WHERE g.tenant_id = ${tenantId} AND g.id = ANY(${groupIds as string[]}::uuid[])
      UNION ALL
      SELECT c.leaf, g.id, g.parent_group_id, g.name, g.inherit_resources, c.depth + 1, c.grants AND c.inherit_resources
        FROM chain c JOIN resource_groups g ON g.id = c.parent_group_id AND g.tenant_id = ${tenantId}
       WHERE c.depth < 1000
    )
    SELECT leaf, id, name, depth, grants FROM chain ORDER BY leaf, depth`.execute(db);
  const bound = await readGroupBindings(db, [...new Set(rows.flatMap(({ id, grants }) => (grants ? [id] : [])))]);
  return rows.map((row) => ({ ...row, ...((row.grants ? bound.get(row.id) : undefined) ?? NOTHING_BOUND) }));
}

async function readGroupBindings(db: Database, groupIds: readonly string[]): Promise<Map<string, GroupBindings>> {
  const inGroups = sql`group_id = ANY(${groupIds as string[]}::uuid[])`;
  const { rows } = await sql<{ group_id: string; kind: "model" | "virtual_model" | "config"; visible: boolean; ids: string[] }>`
    SELECT group_id, kind, visible, array_agg(id) AS ids FROM (
      SELECT group_id, 'model' AS kind, portal_visible AS visible, model_id AS id FROM resource_group_models WHERE ${inGroups}
      UNION ALL
      SELECT group_id, 'virtual_model', portal_visible, model_id FROM resource_group_virtual_models WHERE ${inGroups}
      UNION ALL
      SELECT group_id, 'config', true, config_id FROM server_config_groups WHERE ${inGroups}) AS bound
    GROUP BY 1, 2, 3`.execute(db);
  const byGroup = new Map<string, { [Name in keyof GroupBindings]: string[] }>();
  for (const { group_id, kind, visible, ids } of rows) {
    let bindings = byGroup.get(group_id);
    if (bindings === undefined)
      byGroup.set(group_id, (bindings = { model_ids: [], config_ids: [], hidden_model_ids: [], shown_model_ids: [] }));
    if (kind === "config") bindings.config_ids.push(...ids);
    else bindings[visible ? "shown_model_ids" : "hidden_model_ids"].push(...ids);
    if (kind === "model") bindings.model_ids.push(...ids);
  }
  return byGroup;
}

export interface CredentialRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly scope: string;
  readonly resource_group_id: string | null;
  readonly end_user_id: string | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  /** Set when the hash asked for is the one before the last rotation. */
  readonly previous_valid_until: Date | null;
  readonly is_previous: boolean;
}

export async function readCredential(db: Database, keyHash: string): Promise<CredentialRow | null> {
  const row = await db
    .selectFrom("api_keys as k")
    .select([
      "k.id",
      "k.tenant_id",
      "k.name",
      "k.scope",
      "k.resource_group_id",
      "k.end_user_id",
      "k.expires_at",
      "k.revoked_at",
      "k.previous_valid_until",
    ])
    .select((eb) => eb("k.key_hash", "<>", keyHash).as("is_previous"))
    .where((eb) => eb.or([eb("k.key_hash", "=", keyHash), eb("k.previous_hash", "=", keyHash)]))
    .executeTakeFirst();
  return (row as CredentialRow | undefined) ?? null;
}

/** Marks keys as used; `usedAt` is the newest use this process saw of each. */
export async function writeLastUsed(db: Database, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return;
  const ids = [...uses.keys()];
  const times = [...uses.values()].map((time) => time.toISOString());
  await sql`UPDATE api_keys k SET last_used_at = u.at
              FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS u(id, at)
             WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`.execute(db);
}

/** The oldest enabled chat model, for the example a start prints; null when there is none. */
export async function readAnyModelName(db: Database): Promise<string | null> {
  const row = await db
    .selectFrom("models")
    .select("name")
    .where("enabled", "=", true)
    .where("modes", "@>", sql<string[]>`ARRAY['chat']`)
    .orderBy("created_at")
    .orderBy("name")
    .limit(1)
    .executeTakeFirst();
  return row?.name ?? null;
}
