import { type Selectable, sql } from "kysely";
import { type ArgumentPolicyRow, readArgumentPolicies } from "../policies/argument-policies.ts";
import { type AgentGrantRow, readAgentGrants } from "../agents/agent-grants.ts";
import { type AgentSigningKeyRow, signingKeys } from "../agents/agent-signing-keys.ts";
import { type AutonomyRow, readAutonomy } from "../assurance/ai-systems.ts";
import { type ClassifiedGroup, readClassifiedGroups } from "../discovery/classified-groups.ts";
import type { Database } from "../database.ts";
import type { DataRetention, MediaLimitsRow } from "../schema.ts";
import type { ModelTable, ProviderTable, RoutingGroupTable } from "../tables/models.ts";
import type { AgentTable } from "../tables/agents.ts";
import type { McpServerTable, ServerConfigTable, VirtualServerTable } from "../tables/tools.ts";
import { readServedSkills, type ServedSkillRow } from "../agents/agent-skills.ts";
import { type KnowledgeBaseGrantRow, readKnowledgeBaseGrants } from "../knowledge/knowledge-bases.ts";
import { type PolicyRows, readPolicyRows } from "../groups/group-policy-rows.ts";
import { type SemanticCacheConfigRow, readSemanticCacheConfigs } from "../models/semantic-cache-configs.ts";
import { type SemanticPolicyRow, readSemanticPolicies } from "../policies/semantic-policies.ts";
import { readWebSearchProviders, type WebSearchProviderRow } from "../tools/web-search-providers.ts";
import type { GuardrailConfigTable } from "../tables/policies.ts";

/** What the runtime plane reads to compile its policies: once per change, never per call in steady state. */

export interface TenantPolicyRows extends PolicyRows {
  readonly tenant: {
    id: string;
    enabled: boolean;
    data_retention: DataRetention;
    media_limits?: MediaLimitsRow;
    allowed_regions: string[];
    default_judge_model_id: string | null;
    compliance_frameworks: string[] | null;
    autonomy_floor: "autonomous" | "restricted" | "suspended";
  };
  /** Groups that are classified or handle health information; none if the tenant reports under no framework. */
  readonly classified_groups: ClassifiedGroup[];
  readonly providers: Selectable<ProviderTable>[];
  readonly models: Selectable<ModelTable>[];
  readonly routing_groups: Selectable<RoutingGroupTable>[];
  readonly mcp_servers: Selectable<McpServerTable>[];
  readonly server_configs: Selectable<ServerConfigTable>[];
  readonly virtual_servers: Selectable<VirtualServerTable>[];
  /** Enabled ones only. */
  readonly guardrail_configs: Selectable<GuardrailConfigTable>[];
  readonly argument_policies: ArgumentPolicyRow[];
  readonly semantic_caches: SemanticCacheConfigRow[];
  readonly semantic_policies: SemanticPolicyRow[];
  readonly agents: Selectable<AgentTable>[];
  readonly agent_grants: AgentGrantRow[];
  /** Newest first. */
  readonly agent_signing_keys: AgentSigningKeyRow[];
  readonly ai_systems: AutonomyRow[];
  readonly knowledge_bases: KnowledgeBaseGrantRow[];
  /** By name. */
  readonly agent_skills: ServedSkillRow[];
  /** Enabled ones, in the order in which they are tried. */
  readonly web_search_providers: WebSearchProviderRow[];
}

export async function readTenantPolicy(db: Database, tenantId: string): Promise<TenantPolicyRows | null> {
  // One transaction, so that a model never refers to a provider that an earlier query did not see.
  return db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (trx) => {
      const tenant = await trx
        .selectFrom("tenants")
        .select([
          "id",
          "enabled",
          "data_retention",
          "media_limits",
          "allowed_regions",
          "default_judge_model_id",
          "compliance_frameworks",
          "autonomy_floor",
        ])
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
      const agents = {
        agents: await trx.selectFrom("agents").selectAll().where("tenant_id", "=", tenantId).orderBy("card_name").execute(),
        agent_grants: await readAgentGrants(trx, tenantId),
        agent_signing_keys: await signingKeys(trx, tenantId, new Date()),
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
        ...agents,
        ai_systems: await readAutonomy(trx, tenantId),
        classified_groups: tenant.compliance_frameworks === null ? [] : await readClassifiedGroups(trx, tenantId),
        knowledge_bases: await readKnowledgeBaseGrants(trx, tenantId),
        agent_skills: await readServedSkills(trx, tenantId),
        web_search_providers: await readWebSearchProviders(trx, tenantId),
        ...(await readPolicyRows(trx, tenantId)),
      };
    });
}

/** The oldest enabled chat model, for the example printed at start; null if there is none. */
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
