import { servedIn, type ToolServerEntry } from "../../directory/tools/tool-server-entry.ts";
import { isKnowledgeServer, knowledgeAccess, knowledgeServer } from "../../directory/tools/knowledge-server.ts";
import { isSkillServer } from "../../directory/skills/skill-server.ts";
import { mayUseTool } from "../../directory/tools/tool-access.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse, isRefusal } from "../../kernel/errors.ts";
import { interfaceAddress } from "../../wire/mcp/apps.ts";
import { memberOf } from "../../wire/mcp/namespace.ts";
import type { ToolRoute, ToolTarget, ToolReference } from "../../road/target.ts";
import type { StandingControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";
import { skillRoute } from "./skill-access.ts";

/**
 * A call may use a tool server if a server configuration grants it to the call's resource group, and a tool of it if
 * every such configuration allows the tool. A virtual server grants nothing by itself. Sets `call.target`.
 */
export const toolAccess: StandingControl = {
  name: "tool_access",
  decide(call, view) {
    const { target } = view;
    if (target.kind !== "tool" || call.scope === null) return PASS;
    const route =
      isSkillServer(call.scope, target.serverId) && target.server === "single"
        ? skillRoute(call, call.scope, target)
        : target.server === "single"
          ? ofServer(call.scope, target)
          : ofVirtualServer(call.scope, target);
    if (isRefusal(route)) return refused(route);
    call.target = route;
    return PASS;
  },
};

const MEGABYTE = 1024 * 1024;

function ofServer(scope: GroupScope, tool: ToolReference): ToolRoute | Refusal {
  if (isKnowledgeServer(scope, tool.serverId)) return ofKnowledgeServer(scope, tool);
  const target = targetOf(scope, tool.serverId, tool.dialect);
  if (target === null) return refuse("tool_server_not_found");
  if (target === "not_granted") return refuse("tool_server_not_allowed");
  if (target === "disabled") return refuse("tool_server_disabled");
  if (tool.capability?.type === "tool" && !mayUseTool(target.access, tool.capability.name)) return refuse("tool_not_allowed");
  if (!mayReadInterface(target, tool.capability)) return refuse("tool_not_allowed");
  return { kind: "tool", virtual: null, targets: [{ ...target, slug: null }], capability: tool.capability };
}

function ofKnowledgeServer(scope: GroupScope, tool: ToolReference): ToolRoute | Refusal {
  const access = knowledgeAccess(scope);
  if (access === null) return refuse("tool_server_not_allowed");
  if (tool.capability?.type === "tool" && !mayUseTool(access, tool.capability.name)) return refuse("tool_not_allowed");
  const server = knowledgeServer(scope.tenant.id);
  const targets = [{ ...limited(scope, server), access, slug: null }];
  return { kind: "tool", own: "knowledge", virtual: null, targets, capability: tool.capability };
}

function ofVirtualServer(scope: GroupScope, tool: ToolReference): ToolRoute | Refusal {
  const virtual = scope.tenant.virtualServers.get(tool.serverId);
  if (virtual === undefined) return refuse("tool_server_not_found");
  if (!virtual.groupIds.some((id) => scope.grantingGroups.has(id))) return refuse("tool_server_not_allowed");
  if (!virtual.enabled) return refuse("tool_server_disabled");
  const targets = virtual.members.flatMap(({ serverId, slug }) => {
    const target = targetOf(scope, serverId, tool.dialect);
    return target === null || typeof target === "string" ? [] : [{ ...target, slug }];
  });
  // Virtual servers do not support tasks; the refusal is about the method, not about the task.
  if (tool.capability === null || tool.capability.type === "task") return { kind: "tool", virtual, targets, capability: null };
  const named = memberOf(tool.capability);
  const target = named === null ? undefined : targets.find(({ slug }) => slug === named.slug);
  if (named === null || target === undefined || (named.capability.type === "tool" && !mayUseTool(target.access, named.capability.name)))
    return refuse("tool_not_allowed");
  if (!mayReadInterface(target, named.capability)) return refuse("tool_not_allowed");
  return { kind: "tool", virtual, targets: [target], capability: named.capability };
}

/** A caller may read a tool's UI resource only if it may use one of the tools that refer to it. */
function mayReadInterface({ server, access }: Omit<ToolTarget, "slug">, capability: ToolReference["capability"]): boolean {
  const wanted = capability?.type === "resource" ? interfaceAddress(capability.name) : null;
  if (wanted === null) return true;
  const bringing = [...server.tools.values()].filter(({ ui }) => ui != null && interfaceAddress(ui) === wanted);
  return bringing.length === 0 || bringing.some(({ name }) => mayUseTool(access, name));
}

function targetOf(
  scope: GroupScope,
  id: string,
  dialect: ToolReference["dialect"],
): Omit<ToolTarget, "slug"> | "not_granted" | "disabled" | null {
  const found = scope.tenant.toolServers.get(id);
  if (found === undefined) return null;
  const access = scope.tools.get(id);
  if (access === undefined) return "not_granted";
  if (!found.enabled) return "disabled";
  return { ...limited(scope, servedIn(dialect, found)), access };
}

/** The server with the timeout and limits that apply to the group there. */
function limited(scope: GroupScope, server: ToolServerEntry): Pick<ToolTarget, "server" | "limits"> {
  const limits = scope.tenant.policies.effective(scope.groupId, "mcp_limits", server.id);
  const most = (path: string) => (limits.get(path) as number | undefined) ?? null;
  const seconds = most("execution.timeout_seconds");
  const megabytes = most("data.max_payload_size_mb");
  return {
    server: seconds !== null && seconds * 1000 < server.timeoutMs ? { ...server, timeoutMs: seconds * 1000 } : server,
    limits: {
      maxPayloadBytes: megabytes === null ? null : megabytes * MEGABYTE,
      maxRows: most("data.max_rows_per_query"),
      maxItems: most("data.max_items_per_response"),
    },
  };
}
