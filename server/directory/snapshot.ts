import { sealContext, type SecretBox } from "../kernel/secrets.ts";
import type { TenantPolicyRows } from "../store/records/policy-reads.ts";
import type { GroupChainRow } from "../store/groups/group-chains.ts";
import type { AutonomyRow } from "../store/assurance/ai-systems.ts";
import { type Autonomy, type AutonomyBounds, autonomyOf, boundedTools } from "./assurance/autonomy.ts";
import { type ComplianceRules, complianceRulesOf } from "./compliance/rules.ts";
import { type ModelEntry, modelEntry } from "./models/model-entry.ts";
import { compileAgents, type TenantAgents } from "./agents/agent-entry.ts";
import { type ToolAccess, toolAccessOf } from "./tools/tool-access.ts";
import { compileToolServers, compileVirtualServers, type ToolServerEntry, type VirtualServerEntry } from "./tools/tool-server-entry.ts";
import { compileRoutingGroups, type RoutingGroupEntry } from "./models/routing-group-entry.ts";
import { type KnowledgeBaseEntry, knowledgeBaseEntries } from "./knowledge/knowledge-base-entry.ts";
import { type SkillEntry, skillEntries } from "./skills/skill-entry.ts";
import { type WebSearchProviderEntry, webSearchProviderEntries } from "./web-search/provider-entry.ts";
import { policyTreeOf } from "./limits/policy-rows.ts";
import type { PolicyTree } from "./limits/policy-tree.ts";
import type { ArgumentPolicyEntry, ToolCallPolicy } from "./policies/argument-policy-entry.ts";
import { policiesByTool } from "./policies/policies-by-tool.ts";
import { type GuardrailEntry, guardrailEntries } from "./policies/guardrail-entry.ts";
import { compileSemanticCaches, type SemanticCacheEntry } from "./semantic-cache/config-entry.ts";
import { compileSemanticPolicies, type SemanticPolicyEntry } from "./semantic-policies/policy-entry.ts";

export type { ModelEntry } from "./models/model-entry.ts";

type MediaLimits = NonNullable<TenantPolicyRows["tenant"]["media_limits"]>;

/** A tenant's compiled, immutable policy, which calls use instead of the database. Replaced as a whole when the configuration changes. */
export interface TenantSnapshot {
  readonly id: string;
  readonly enabled: boolean;
  readonly storeBodies: "full" | "redacted" | "none";
  /** Days until a stored file expires; null keeps it. */
  readonly fileDays: number | null;
  /** Maximum file sizes in MiB; unlimited where omitted. */
  readonly mediaLimits?: MediaLimits | undefined;
  readonly models: ReadonlyMap<string, ModelEntry>;
  readonly modelsByName: ReadonlyMap<string, ModelEntry>;
  /** By the provider's model name, which several models may share. */
  readonly modelsByModelName: ReadonlyMap<string, readonly ModelEntry[]>;
  /** By the slug with which callers address it. No name or slug of a group is also the name of a model. */
  readonly routingGroups: ReadonlyMap<string, RoutingGroupEntry>;
  readonly routingGroupsByName: ReadonlyMap<string, RoutingGroupEntry>;
  /** By the gateway's ID of its virtual model. */
  readonly routingGroupsByModelId: ReadonlyMap<string, RoutingGroupEntry>;
  readonly toolServers: ReadonlyMap<string, ToolServerEntry>;
  readonly virtualServers: ReadonlyMap<string, VirtualServerEntry>;
  readonly serverConfigs: ReadonlyMap<string, TenantPolicyRows["server_configs"][number]>;
  /** Where the tenant's calls may be processed; empty allows any region. */
  readonly allowedRegions: ReadonlySet<string>;
  /** Its groups with their limit and governance documents. */
  readonly policies: PolicyTree;
  /** Enabled ones, by name. */
  readonly guardrails: readonly GuardrailEntry[];
  readonly argumentPolicies: readonly ArgumentPolicyEntry[];
  /** Oldest first. */
  readonly semanticCaches: readonly SemanticCacheEntry[];
  readonly semanticPolicies: readonly SemanticPolicyEntry[];
  readonly defaultJudgeModelId: string | null;
  /** The autonomy of AI Systems when their configuration is too outdated to be relied on. */
  readonly autonomyFloor: "autonomous" | "restricted" | "suspended";
  readonly agents: TenantAgents;
  /** The envelope and lifecycle state of each AI System, by its group. */
  readonly aiSystems: ReadonlyMap<string, AutonomyRow>;
  /** What determines the tags on its rows; null if it reports under no framework. */
  readonly compliance: ComplianceRules | null;
  /** Enabled and disabled ones, by name. */
  readonly knowledgeBases: readonly KnowledgeBaseEntry[];
  /** Those being served, by name. */
  readonly skills: readonly SkillEntry[];
  /** Enabled ones, in the order in which they are queried. */
  readonly webSearch: readonly WebSearchProviderEntry[];
}

/** What a resource group's callers may use. */
export interface GroupScope {
  readonly groupId: string;
  readonly groupName: string;
  readonly tenant: TenantSnapshot;
  /** The group and its ancestors, nearest first. */
  readonly chain: readonly { readonly id: string; readonly name: string }[];
  readonly granted: ReadonlySet<string>;
  /** Server configurations that apply to the group, and those of them bound to it directly. */
  readonly configIds: readonly string[];
  readonly ownConfigIds: ReadonlySet<string>;
  /** Access by tool server; a server that is missing is not granted. */
  readonly tools: ReadonlyMap<string, ToolAccess>;
  /** The group and those ancestors whose bindings it inherits. */
  readonly grantingGroups: ReadonlySet<string>;
  /** Models and virtual models hidden from the portal's picker, as set by the nearest group that binds each. */
  readonly hiddenInPortal: ReadonlySet<string>;
  /**
   * How freely its calls may act; null if neither it nor an ancestor is an AI System. What this excludes is already missing
   * from `granted` and `tools`.
   */
  readonly autonomy: Autonomy | null;
  /** The knowledge bases used by calls that name none, as set by the nearest group that sets any. */
  readonly defaultKnowledgeBaseIds: readonly string[];
  /** The policies on tool call arguments that apply to the group, by tool name in the form of `toolSpelling`. */
  readonly toolCallPolicies: ReadonlyMap<string, readonly ToolCallPolicy[]>;
}

/** `open` returns null for a secret that is missing or cannot be decrypted; the record is then compiled without one. */
export function compileTenant(
  rows: TenantPolicyRows,
  open: SecretBox["openOrNull"],
  argumentPolicies: readonly ArgumentPolicyEntry[],
): TenantSnapshot {
  const providers = new Map(rows.providers.map((row) => [row.id, row]));
  const providerKeys = new Map(rows.providers.map((row) => [row.id, open(row.api_key_sealed, sealContext("providers", row.id))]));
  const models = new Map<string, ModelEntry>();
  const modelsByName = new Map<string, ModelEntry>();
  const modelsByModelName = new Map<string, ModelEntry[]>();
  for (const row of rows.models) {
    const provider = providers.get(row.provider_id);
    if (provider === undefined) continue;
    const entry = modelEntry(row, provider, providerKeys.get(provider.id) ?? null, open);
    models.set(entry.id, entry);
    modelsByName.set(entry.name, entry);
    const sharing = modelsByModelName.get(entry.modelName);
    if (sharing === undefined) modelsByModelName.set(entry.modelName, [entry]);
    else sharing.push(entry);
  }
  const groups = compileRoutingGroups(rows.routing_groups, rows.models, models);
  return {
    id: rows.tenant.id,
    enabled: rows.tenant.enabled,
    storeBodies: rows.tenant.data_retention.store_bodies,
    fileDays: rows.tenant.data_retention.file_days,
    mediaLimits: rows.tenant.media_limits,
    models,
    modelsByName,
    modelsByModelName,
    routingGroups: new Map(groups.map((group) => [group.id, group])),
    routingGroupsByName: new Map(groups.map((group) => [group.name, group])),
    routingGroupsByModelId: new Map(groups.map((group) => [group.modelId, group])),
    toolServers: compileToolServers(rows.mcp_servers, (row) => open(row.api_key_sealed, sealContext("mcp_servers", row.id))),
    virtualServers: compileVirtualServers(rows.virtual_servers),
    serverConfigs: new Map(rows.server_configs.map((row) => [row.id, row])),
    allowedRegions: new Set(rows.tenant.allowed_regions),
    policies: policyTreeOf(rows),
    argumentPolicies,
    guardrails: guardrailEntries(rows.guardrail_configs, open),
    semanticCaches: compileSemanticCaches(rows.semantic_caches, models),
    semanticPolicies: compileSemanticPolicies(rows.semantic_policies),
    defaultJudgeModelId: rows.tenant.default_judge_model_id,
    autonomyFloor: rows.tenant.autonomy_floor,
    agents: compileAgents(rows, open),
    aiSystems: new Map(rows.ai_systems.map((row) => [row.id, row])),
    compliance: complianceRulesOf(rows.tenant.compliance_frameworks, rows.classified_groups),
    knowledgeBases: knowledgeBaseEntries(rows.knowledge_bases),
    skills: skillEntries(rows.agent_skills),
    webSearch: webSearchProviderEntries(rows.web_search_providers, open),
  };
}

/** `chain` is nearest first; the first group that binds a model decides. */
function hiddenBy(chain: readonly GroupChainRow[]): Set<string> {
  const hidden = new Set<string>();
  const decided = new Set<string>();
  for (const row of chain) {
    for (const id of row.hidden_model_ids) if (!decided.has(id)) hidden.add(id);
    for (const id of [...row.hidden_model_ids, ...row.shown_model_ids]) decided.add(id);
  }
  return hidden;
}

/**
 * A group's scope over its chain, nearest first. What only some calls need is computed lazily: a change recompiles every
 * group in use, which may be thousands below one root with hundreds of models and tool servers each.
 */
class ChainScope implements GroupScope {
  readonly groupId: string;
  readonly groupName: string;
  readonly tenant: TenantSnapshot;
  readonly chain: readonly GroupChainRow[];
  private readonly known: { -readonly [Name in keyof GroupScope]?: GroupScope[Name] } = {};

  constructor(tenant: TenantSnapshot, groupId: string, chain: readonly GroupChainRow[]) {
    this.groupId = groupId;
    this.groupName = chain[0]?.name ?? "";
    this.tenant = tenant;
    this.chain = chain;
  }

  get granted(): ReadonlySet<string> {
    return (this.known.granted ??= this.grantedWithin(this.autonomy?.bounds?.models ?? null));
  }

  get configIds(): readonly string[] {
    return (this.known.configIds ??= [...new Set(this.chain.flatMap((row) => row.config_ids))]);
  }

  get ownConfigIds(): ReadonlySet<string> {
    return (this.known.ownConfigIds ??= new Set(this.chain[0]?.config_ids));
  }

  get tools(): ReadonlyMap<string, ToolAccess> {
    return (this.known.tools ??= this.toolsWithin(this.autonomy?.bounds ?? null));
  }

  get autonomy(): Autonomy | null {
    if (this.known.autonomy === undefined)
      this.known.autonomy = autonomyOf(
        this.chain.map(({ id }) => id),
        this.tenant.aiSystems,
      );
    return this.known.autonomy;
  }

  get grantingGroups(): ReadonlySet<string> {
    return (this.known.grantingGroups ??= new Set(this.chain.filter((row) => row.grants).map((row) => row.id)));
  }

  get hiddenInPortal(): ReadonlySet<string> {
    return (this.known.hiddenInPortal ??= hiddenBy(this.chain));
  }

  get defaultKnowledgeBaseIds(): readonly string[] {
    return this.chain.find((row) => row.grants && row.default_knowledgebase_ids !== null)?.default_knowledgebase_ids ?? [];
  }

  get toolCallPolicies(): ReadonlyMap<string, readonly ToolCallPolicy[]> {
    return (this.known.toolCallPolicies ??= policiesByTool(this.tenant.argumentPolicies, this.chain));
  }

  private grantedWithin(models: ReadonlySet<string> | null): ReadonlySet<string> {
    const bound = this.chain.flatMap((row) => row.model_ids);
    return new Set(models === null ? bound : bound.filter((id) => models.has(id)));
  }

  private toolsWithin(bounds: AutonomyBounds | null): ReadonlyMap<string, ToolAccess> {
    const tools = toolAccessOf(this.chain.flatMap((row) => row.config_ids).flatMap((id) => this.tenant.serverConfigs.get(id) ?? []));
    return bounds === null ? tools : boundedTools(tools, bounds);
  }
}

/** One scope for each existing group. */
export function compileScopes(tenant: TenantSnapshot, rows: readonly GroupChainRow[]): Map<string, GroupScope> {
  const byLeaf = new Map<string, GroupChainRow[]>();
  for (const row of rows) {
    const chain = byLeaf.get(row.leaf);
    if (chain === undefined) byLeaf.set(row.leaf, [row]);
    else chain.push(row);
  }
  return new Map([...byLeaf].map(([leaf, chain]) => [leaf, new ChainScope(tenant, leaf, chain)]));
}
