import { adminLogOperations } from "./ledger/admin-log.ts";
import { adminUserOperations } from "./people/admin-users.ts";
import { agentGrantOperations } from "./agents/agent-grants.ts";
import { agentOperations } from "./agents/agents.ts";
import { agentSkillOperations } from "./agents/agent-skills.ts";
import { aiContractOperations } from "./assurance/ai-contracts.ts";
import { aiSystemOperations } from "./assurance/ai-systems.ts";
import { apiKeyOperations } from "./people/api-keys.ts";
import { approvalOperations } from "./policies/approvals.ts";
import { argumentPolicyOperations } from "./policies/argument-policies.ts";
import { assetOperations } from "./assurance/assets.ts";
import { assuranceOperations } from "./assurance/assurance.ts";
import { auditChainOperations } from "./ledger/audit-chains.ts";
import { catalogOperations } from "./models/catalog.ts";
import { alertOperations } from "./assurance/alerts.ts";
import { complianceOperations } from "./assurance/compliance.ts";
import { dataErasureOperations } from "./assurance/data-erasure.ts";
import { connectedAccountOperations } from "./sign-on/connected-accounts.ts";
import { discoveryOperations } from "./tools/discovery.ts";
import { driftOperations } from "./assurance/drift.ts";
import { endUserGroupOperations } from "./people/end-user-groups.ts";
import { endUserOperations } from "./people/end-users.ts";
import { guardrailOperations } from "./policies/guardrails.ts";
import { groupModelOperations } from "./groups/group-models.ts";
import { groupPolicyOperations } from "./policies/group-policies.ts";
import { groupSkillOperations } from "./groups/group-skills.ts";
import { identityProviderOperations } from "./sign-on/identity-providers.ts";
import { ingestAdapterOperations } from "./ledger/ingest-adapters.ts";
import { kbConnectorOperations } from "./knowledge/kb-connectors.ts";
import { kbIdentityOperations } from "./knowledge/kb-identities.ts";
import { knowledgeBaseOperations } from "./knowledge/knowledge-bases.ts";
import { loginOperations } from "./sign-on/logins.ts";
import { mcpOAuthClientOperations } from "./tools/mcp-oauth-clients.ts";
import { mcpServerOperations } from "./tools/mcp-servers.ts";
import { modelHealthOperations } from "./models/model-health.ts";
import { modelOperations } from "./models/models.ts";
import { noticeOperations } from "./policies/notices.ts";
import type { AdminOperation } from "./operation.ts";
import { pageOperations } from "./pages.ts";
import { providerOperations } from "./models/providers.ts";
import { ssoOperations } from "./sign-on/sso.ts";
import { ssoSignOutOperations } from "./sign-on/sso-sign-out.ts";
import { provisioningOperations } from "./sign-on/provisioning.ts";
import { proxyLogOperations } from "./ledger/proxy-logs.ts";
import { resourceGroupOperations } from "./groups/resource-groups.ts";
import { replayOperations } from "./assurance/replay.ts";
import { responseOperations } from "./assurance/responses.ts";
import { routingGroupOperations } from "./models/routing-groups.ts";
import { runOperations } from "./ledger/runs.ts";
import { serverConfigOperations } from "./tools/server-configs.ts";
import { semanticCacheOperations } from "./models/semantic-cache.ts";
import { semanticPolicyOperations } from "./policies/semantic-policies.ts";
import { sessionOperations } from "./sign-on/sessions.ts";
import { tenantOperations } from "./people/tenants.ts";
import { webSearchOperations } from "./tools/web-search.ts";
import { webhookOperations } from "./policies/webhooks.ts";
import { batchJobOperations } from "./models/batch-jobs.ts";
import { usageImportOperations } from "./ledger/usage-import.ts";
import { usageReportOperations } from "./ledger/usage-report.ts";
import { virtualServerOperations } from "./tools/virtual-servers.ts";

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
  ...webhookOperations,
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
