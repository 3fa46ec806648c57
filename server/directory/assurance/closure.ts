import { canonicalJson } from "@gatehouse/ledger-format/admin-entry";
import { CONTRACT_SCHEMA, type ContractClauses, type ContractDocument } from "@gatehouse/contracts/ai-contracts";
import { argumentPolicyStore } from "../../store/policies/argument-policies.ts";
import { guardrailConfigStore } from "../../store/policies/guardrail-configs.ts";
import type { AiSystemRow } from "../../store/assurance/ai-systems.ts";
import { readGroupChains } from "../../store/groups/group-chains.ts";
import { skillsOfGroup } from "../../store/skills/group-skills.ts";
import { tenantStore } from "../../store/tenants/tenants.ts";
import { grantFor } from "../agents/deciding-grant.ts";
import { agentGrants } from "../agents/agent-grants.ts";
import { agents } from "../agents/agents.ts";
import { effectiveLimitsOf } from "../limits/group-policies.ts";
import { fieldsOf } from "../limits/merge.ts";
import { mergeRuleOf, type PolicyDocument } from "../limits/rules.ts";
import { models } from "../models/models.ts";
import { effectiveNoticeConfig } from "../notices/notice-configs.ts";
import { readArgumentPolicy } from "../policies/argument-policies.ts";
import { readGuardrailConfig } from "../policies/guardrail-configs.ts";
import { semanticPolicies } from "../semantic-policies/policies.ts";
import { readSkillVersion } from "../skills/agent-skills.ts";
import { mcpServers } from "../tools/mcp-servers.ts";
import { readEffectiveServerConfigs } from "../tools/server-configs.ts";
import { byId, configurationDigest, everything, type ClosureReach, mapPage } from "./closure-parts.ts";
import { policiesIn } from "./closure-policies.ts";
import { sharedClauses } from "./closure-shared.ts";
import { notFound } from "../writes/records.ts";
import type { Directory } from "../writes/write.ts";

export function contractText(document: ContractDocument): string {
  return canonicalJson(document);
}

/** Everything that determines what the system may do, as currently configured. */
export async function closureOf(directory: Directory, row: AiSystemRow): Promise<ContractDocument> {
  const { tenant_id: tenantId, id } = row;
  const { db } = directory;
  const chain = await readGroupChains(db, tenantId, [id]);
  const tenant = await tenantStore.find(db, null, tenantId);
  if (tenant === undefined) throw notFound("tenant");
  const reach: ClosureReach = { directory, tenantId, id, chain };
  const clauses: ContractClauses = {
    purpose: {
      purpose: row.purpose,
      role: row.role,
      risk_class: row.risk_class,
      data_classes: [...(row.data_classes ?? [])].sort(),
      interacts_with_people: row.interacts_with_people,
    },
    models: await modelsIn(reach),
    tool_servers: await toolServersIn(reach),
    agents: await agentsIn(reach),
    skills: await skillsIn(reach),
    guardrails: await policiesIn(reach, async (page) =>
      mapPage(await guardrailConfigStore.page(db, tenantId, {}, page), readGuardrailConfig),
    ),
    argument_policies: await policiesIn(reach, async (page) =>
      mapPage(await argumentPolicyStore.page(db, tenantId, {}, page), readArgumentPolicy),
    ),
    semantic_policies: await policiesIn(reach, (page) => semanticPolicies.list(directory, tenantId, {}, page)),
    limits: await limitsIn(reach),
    autonomy: {
      level: row.autonomy_level as ContractClauses["autonomy"]["level"],
      restrictions: row.restrictions as ContractClauses["autonomy"]["restrictions"],
    },
    retention: tenant.data_retention,
    regions: [...tenant.allowed_regions].sort(),
    notice: await noticeIn(reach),
    ...(await sharedClauses(reach)),
  };
  return { schema: CONTRACT_SCHEMA, ai_system_id: id, clauses };
}

async function modelsIn({ directory, tenantId, chain }: ClosureReach): Promise<ContractClauses["models"]> {
  const entries: [string, ContractClauses["models"][string]][] = [];
  for (const id of new Set(chain.flatMap((row) => row.model_ids))) {
    const model = await models.get(directory, tenantId, id);
    entries.push([id, { name: model.name, digest: configurationDigest(model), provider: model.provider, region: model.residency_region }]);
  }
  return byId(entries);
}

async function toolServersIn({ directory, tenantId, id }: ClosureReach): Promise<ContractClauses["tool_servers"]> {
  const { effective } = await readEffectiveServerConfigs(directory, tenantId, id);
  const entries: [string, ContractClauses["tool_servers"][string]][] = [];
  for (const access of effective) {
    const server = await mcpServers.get(directory, tenantId, access.mcp_server_id);
    const open = (name: string) =>
      (access.enabled_tools === null || access.enabled_tools.includes(name)) && !access.disabled_tools.includes(name);
    entries.push([
      server.id,
      {
        name: server.name,
        digest: configurationDigest(server),
        enabled_tools: access.enabled_tools === null ? null : [...access.enabled_tools].sort(),
        disabled_tools: [...access.disabled_tools].sort(),
        approval_required_tools: [...access.approval_required_tools].sort(),
        definitions: Object.fromEntries(server.tools.filter(({ name }) => open(name)).map(({ name, hash }) => [name, hash])),
      },
    ]);
  }
  return byId(entries);
}

async function agentsIn({ directory, tenantId, chain }: ClosureReach): Promise<ContractClauses["agents"]> {
  const granting = new Set(chain.filter(({ grants }) => grants).map((row) => row.id));
  const all = (await everything((page) => agentGrants.list(directory, tenantId, {}, page))).filter(({ enabled }) => enabled);
  const entries: [string, ContractClauses["agents"][string]][] = [];
  for (const agentId of new Set(all.map((grant) => grant.agent_id))) {
    const grants = all.filter((grant) => grant.agent_id === agentId).map((grant) => ({ ...grant, groupIds: new Set(grant.group_ids) }));
    const grant = grantFor(grants, chain, granting);
    if (grant === null || grant.decision === "deny") continue;
    const agent = await agents.get(directory, tenantId, agentId);
    const { decision, skill_ids, max_depth } = grant;
    entries.push([agent.id, { name: agent.card_name, digest: configurationDigest(agent), decision, skill_ids, max_depth }]);
  }
  return byId(entries);
}

async function skillsIn({ directory, tenantId, id }: ClosureReach): Promise<ContractClauses["skills"]> {
  const entries: [string, ContractClauses["skills"][string]][] = [];
  for (const skill of await everything((page) => skillsOfGroup(directory.db, tenantId, id, page))) {
    if (!skill.enabled || skill.published_version === null) continue;
    const { digest, version } = await readSkillVersion(directory.db, tenantId, skill.id, String(skill.published_version));
    entries.push([skill.id, { name: skill.name, digest, version }]);
  }
  return byId(entries);
}

/** Without warning thresholds, which restrict nothing. */
async function limitsIn({ directory, tenantId, id }: ClosureReach): Promise<ContractClauses["limits"]> {
  const { group_id: _group, refinements, ...documents } = await effectiveLimitsOf(directory, tenantId, id);
  const fields = (document: PolicyDocument) =>
    Object.fromEntries([...fieldsOf(document)].filter(([path]) => mergeRuleOf(path) !== "nearest"));
  return Object.fromEntries(
    [
      ...Object.entries(documents).map(([kind, document]) => [kind, fields(document as PolicyDocument)] as const),
      ...refinements.map((one) => [`${one.kind}:${one.item_id}`, fields(one.effective as PolicyDocument)] as const),
    ].filter(([, document]) => Object.keys(document).length > 0),
  );
}

async function noticeIn({ directory, tenantId, id }: ClosureReach): Promise<ContractClauses["notice"]> {
  const { enabled, surface, text_digests, exemption } = await effectiveNoticeConfig(directory, tenantId, id);
  return { enabled, surface, text_digests, exempt: exemption?.asserted === true };
}
