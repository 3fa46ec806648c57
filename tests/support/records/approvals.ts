import type { ApprovalDemand } from "../../../server/directory/tools/approvals.ts";

/** The approval request of a blocked call. */
export function approvalDemand(tenantId: string, groupId: string, rest: Partial<ApprovalDemand> = {}): ApprovalDemand {
  return {
    tenantId,
    serverConfigId: null,
    serverId: "mcp-1",
    serverName: "tools",
    capabilityName: "delete_all",
    requesterType: "api_key",
    requesterId: "key-1",
    requesterDisplay: "a key",
    requesterGroupId: groupId,
    approverGroupIds: [],
    callArguments: '{"really":true}',
    argumentsDigest: "digest-1",
    definitionDigest: "definition-1",
    metadata: {},
    capabilityType: "tool",
    timeoutSeconds: 900,
    ...rest,
  };
}
