import { adminLogOperations } from "./admin-log.ts";
import { adminUserOperations } from "./admin-users.ts";
import { agentGrantOperations } from "./agent-grants.ts";
import { agentOperations } from "./agents.ts";
import { agentSkillOperations } from "./agent-skills.ts";
import { aiContractOperations } from "./ai-contracts.ts";
import { aiSystemOperations } from "./ai-systems.ts";
import { apiKeyOperations } from "./api-keys.ts";
import { approvalOperations } from "./approvals.ts";
import { argumentPolicyOperations } from "./argument-policies.ts";
import { assetOperations } from "./assets.ts";
import { assuranceOperations } from "./assurance.ts";
import { auditChainOperations } from "./audit-chains.ts";
import { catalogOperations } from "./catalog.ts";
import { alertOperations } from "./alerts.ts";
import { complianceOperations } from "./compliance.ts";
import { dataErasureOperations } from "./data-erasure.ts";
import { connectedAccountOperations } from "./connected-accounts.ts";
import { discoveryOperations } from "./discovery.ts";
import { driftOperations } from "./drift.ts";
import { endUserGroupOperations } from "./end-user-groups.ts";
import { endUserOperations } from "./end-users.ts";
import { guardrailOperations } from "./guardrails.ts";
import { groupModelOperations } from "./group-models.ts";
import { groupPolicyOperations } from "./group-policies.ts";
import { groupSkillOperations } from "./group-skills.ts";
import { identityProviderOperations } from "./identity-providers.ts";
import { ingestAdapterOperations } from "./ingest-adapters.ts";
import { kbConnectorOperations } from "./kb-connectors.ts";
import { kbIdentityOperations } from "./kb-identities.ts";
import { knowledgeBaseOperations } from "./knowledge-bases.ts";
import { loginOperations } from "./logins.ts";
import { mcpOAuthClientOperations } from "./mcp-oauth-clients.ts";
import { mcpServerOperations } from "./mcp-servers.ts";
import { modelHealthOperations } from "./model-health.ts";
import { modelOperations } from "./models.ts";
import { noticeOperations } from "./notices.ts";
import type { AdminOperation } from "./operation.ts";
import { pageOperations } from "./pages.ts";
import { providerOperations } from "./providers.ts";
import { ssoOperations } from "./sso.ts";
import { ssoSignOutOperations } from "./sso-sign-out.ts";
import { provisioningOperations } from "./provisioning.ts";
import { proxyLogOperations } from "./proxy-logs.ts";
import { resourceGroupOperations } from "./resource-groups.ts";
import { replayOperations } from "./replay.ts";
import { responseOperations } from "./responses.ts";
import { routingGroupOperations } from "./routing-groups.ts";
import { runOperations } from "./runs.ts";
import { serverConfigOperations } from "./server-configs.ts";
import { semanticCacheOperations } from "./semantic-cache.ts";
import { semanticPolicyOperations } from "./semantic-policies.ts";
import { sessionOperations } from "./sessions.ts";
import { tenantOperations } from "./tenants.ts";
import { webSearchOperations } from "./web-search.ts";
import { batchJobOperations } from "./batch-jobs.ts";
import { usageImportOperations } from "./usage-import.ts";
import { usageReportOperations } from "./usage-report.ts";
import { virtualServerOperations } from "./virtual-servers.ts";

/** Every route of the control plane. */
export const OPERATIONS: readonly AdminOperation[] = [
  ...loginOperations,
  ...sessionOperations,
  ...tenantOperations,
  ...adminUserOperations,
  ...endUserOperations,
  ...endUserGroupOperations,
  ...providerOperations,
  ...modelHealthOperations,
  ...modelOperations,
  ...routingGroupOperations,
  ...catalogOperations,
  ...resourceGroupOperations,
  ...groupModelOperations,
  ...mcpServerOperations,
  ...mcpOAuthClientOperations,
  ...connectedAccountOperations,
  ...serverConfigOperations,
  ...virtualServerOperations,
  ...agentOperations,
  ...agentGrantOperations,
  ...agentSkillOperations,
  ...groupSkillOperations,
  ...webSearchOperations,
  ...knowledgeBaseOperations,
  ...kbIdentityOperations,
  ...kbConnectorOperations,
  ...approvalOperations,
  ...groupPolicyOperations,
  ...guardrailOperations,
  ...argumentPolicyOperations,
  ...alertOperations,
  ...semanticCacheOperations,
  ...semanticPolicyOperations,
  ...noticeOperations,
  ...complianceOperations,
  ...discoveryOperations,
  ...ingestAdapterOperations,
  ...assetOperations,
  ...usageReportOperations,
  ...usageImportOperations,
  ...batchJobOperations,
  ...apiKeyOperations,
  ...aiSystemOperations,
  ...runOperations,
  ...aiContractOperations,
  ...driftOperations,
  ...assuranceOperations,
  ...replayOperations,
  ...responseOperations,
  ...adminLogOperations,
  ...identityProviderOperations,
  ...ssoOperations,
  ...ssoSignOutOperations,
  ...provisioningOperations,
  ...proxyLogOperations,
  ...auditChainOperations,
  ...dataErasureOperations,
  ...pageOperations,
];
