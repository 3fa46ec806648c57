import { boundedTools } from "../assurance/autonomy.ts";
import type { GroupScope } from "../snapshot.ts";
import type { ToolAccess } from "../tools/tool-access.ts";
import type { ToolServerEntry } from "../tools/tool-server-entry.ts";

const PREFIX = "system-agent-skill-server-";
/** Not from any configuration: whoever has skills may load them. */
const ACCESS: ToolAccess = {
  configId: null,
  enabled: null,
  disabled: new Set(),
  approvalRequired: new Set(),
  approvalTimeoutSeconds: 900,
  approvers: [],
};

/** The gateway's own tool server for loading and running skills; one per tenant (interface 4.5). */
export function skillServer(tenantId: string, timeoutMs: number): ToolServerEntry {
  return {
    id: PREFIX + tenantId,
    name: "Agent skills",
    baseUrl: "",
    url: `skill://${encodeURIComponent(tenantId)}`,
    authType: "none",
    credential: null,
    timeoutMs,
    enabled: true,
    iconUrl: null,
    dialect: null,
    protocolVersion: null,
    serverName: "gatehouse-skills",
    serverVersion: "1",
    serverInfo: null,
    capabilities: {},
    instructions: null,
    handshake: null,
    tools: new Map(),
  };
}

export const isSkillServerOfAny = (id: string): boolean => id.startsWith(PREFIX);

export function isSkillServer({ tenant }: GroupScope, id: string): boolean {
  return id === PREFIX + tenant.id;
}

/** A group's access to the skill server; null if the restrictions of an AI System exclude it. */
export function skillServerAccess({ autonomy, tenant }: GroupScope): ToolAccess | null {
  const id = PREFIX + tenant.id;
  const bounds = autonomy?.bounds ?? null;
  return (bounds === null ? ACCESS : boundedTools(new Map([[id, ACCESS]]), bounds).get(id)) ?? null;
}
