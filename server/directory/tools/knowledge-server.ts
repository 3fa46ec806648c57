import { boundedTools } from "../assurance/autonomy.ts";
import { grantedKnowledgeBases } from "../knowledge/knowledge-base-entry.ts";
import type { GroupScope } from "../snapshot.ts";
import type { ToolAccess } from "./tool-access.ts";
import type { ToolServerEntry } from "./tool-server-entry.ts";

const PREFIX = "system-knowledge-";
/** Not from any configuration: whoever may use a knowledge base may search it, subject to the approvals that AI Systems require. */
const ACCESS: ToolAccess = {
  configId: null,
  enabled: null,
  disabled: new Set(),
  approvalRequired: new Set(),
  approvalTimeoutSeconds: 900,
  approvers: [],
};

/** The gateway's own tool server for searching a group's knowledge bases; one per tenant. */
export function knowledgeServer(tenantId: string): ToolServerEntry {
  return {
    id: PREFIX + tenantId,
    name: "Knowledge bases",
    baseUrl: "",
    url: "",
    authType: "none",
    credential: null,
    timeoutMs: 30_000,
    enabled: true,
    iconUrl: null,
    dialect: null,
    protocolVersion: null,
    serverName: "gatehouse-knowledge",
    serverVersion: "1",
    serverInfo: null,
    capabilities: { tools: {} },
    instructions: "Searches the documents that the caller may read.",
    handshake: null,
    tools: new Map(),
  };
}

export const isKnowledgeServerOfAny = (id: string): boolean => id.startsWith(PREFIX);

export function isKnowledgeServer({ tenant }: GroupScope, id: string): boolean {
  return id === PREFIX + tenant.id;
}

/** A group's access to the knowledge server; null if it has no enabled knowledge base, or the restrictions of an AI System exclude it. */
export function knowledgeAccess(scope: GroupScope): ToolAccess | null {
  if (!grantedKnowledgeBases(scope).some(({ enabled }) => enabled)) return null;
  const id = PREFIX + scope.tenant.id;
  const bounds = scope.autonomy?.bounds ?? null;
  return (bounds === null ? ACCESS : boundedTools(new Map([[id, ACCESS]]), bounds).get(id)) ?? null;
}
