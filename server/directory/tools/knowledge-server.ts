import { boundedTools } from "../assurance/autonomy.ts";
import { grantedKnowledgeBases } from "../knowledge/knowledge-base-entry.ts";
import type { GroupScope } from "../snapshot.ts";
import type { ToolAccess } from "./tool-access.ts";
import type { ToolServerEntry } from "./tool-server-entry.ts";

const PREFIX = "system-knowledge-";
/** Of no configuration: who may use a knowledge base may search it, but for AI Systems that ask before each action. */
const ACCESS: ToolAccess = {
  configId: null,
  enabled: null,
  disabled: new Set(),
  approvalRequired: new Set(),
  approvalTimeoutSeconds: 900,
  approvers: [],
};

/** The tool server of the gateway itself by which agents search the knowledge bases of their group; one for each tenant. */
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

export function isKnowledgeServer({ tenant }: GroupScope, id: string): boolean {
  return id === PREFIX + tenant.id;
}

/** What callers of a group may do there; null where they have no knowledge base, or are held back from it. */
export function knowledgeAccess(scope: GroupScope): ToolAccess | null {
  if (!grantedKnowledgeBases(scope).some(({ enabled }) => enabled)) return null;
  const id = PREFIX + scope.tenant.id;
  const bounds = scope.autonomy?.bounds ?? null;
  return (bounds === null ? ACCESS : boundedTools(new Map([[id, ACCESS]]), bounds).get(id)) ?? null;
}
