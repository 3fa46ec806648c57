import type { TenantPolicyRows } from "../../store/policy-reads.ts";

type ConfigRow = TenantPolicyRows["server_configs"][number];

/** What a resource group's callers may use of one tool server. */
export interface ToolAccess {
  readonly configId: string;
  /** Null: all that are not disabled. */
  readonly enabled: ReadonlySet<string> | null;
  readonly disabled: ReadonlySet<string>;
  readonly approvalRequired: ReadonlySet<string>;
  readonly approvalTimeoutSeconds: number;
  readonly approverGroupIds: readonly string[];
}

/** Stands in a list of tools for all of them. */
const ALL = "*";

/**
 * The access of each server that one of the configurations, nearest group first, opens. Several of one server together
 * allow what each of them allows: a group can tighten what stands above it, never loosen it.
 */
export function toolAccessOf(configs: readonly ConfigRow[]): Map<string, ToolAccess> {
  const byServer = new Map<string, ToolAccess>();
  for (const row of configs) {
    if (!row.enabled) continue;
    const before = byServer.get(row.mcp_server_id);
    const enabled = row.enabled_tools === null || row.enabled_tools.includes(ALL) ? null : new Set(row.enabled_tools);
    byServer.set(row.mcp_server_id, {
      configId: before?.configId ?? row.id,
      enabled: before === undefined || before.enabled === null ? enabled : enabled === null ? before.enabled : new Set([...before.enabled].filter((name) => enabled.has(name))),
      disabled: new Set([...(before?.disabled ?? []), ...row.disabled_tools]),
      approvalRequired: new Set([...(before?.approvalRequired ?? []), ...row.approval_required_tools]),
      approvalTimeoutSeconds: Math.min(before?.approvalTimeoutSeconds ?? Number.POSITIVE_INFINITY, row.approval_timeout_seconds),
      approverGroupIds: [...new Set([...(before?.approverGroupIds ?? []), ...row.approver_group_ids])],
    });
  }
  return byServer;
}

export function mayUseTool(access: ToolAccess, name: string): boolean {
  return (access.enabled === null || access.enabled.has(name)) && !access.disabled.has(name) && !access.disabled.has(ALL);
}

export function needsApproval(access: ToolAccess, name: string): boolean {
  return access.approvalRequired.has(name) || access.approvalRequired.has(ALL);
}

/** Whether there is any rule about single tools, so that what cannot be read must not pass. */
export function restrictsTools(access: ToolAccess): boolean {
  return access.enabled !== null || access.disabled.size > 0 || access.approvalRequired.size > 0;
}
