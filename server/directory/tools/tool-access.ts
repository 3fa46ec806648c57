import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { TenantPolicyRows } from "../../store/records/policy-reads.ts";

type ConfigRow = TenantPolicyRows["server_configs"][number];

/** What a resource group's callers may use of one tool server. */
export interface ToolAccess {
  /** The configuration that opens it, of several the nearest; null of the gateway's own servers. */
  readonly configId: string | null;
  /** Null: all that are not disabled. */
  readonly enabled: ReadonlySet<string> | null;
  readonly disabled: ReadonlySet<string>;
  readonly approvalRequired: ReadonlySet<string>;
  readonly approvalTimeoutSeconds: number;
  /** Of each configuration that names some, nearest group first. */
  readonly approvers: readonly Approvers[];
}

/** Who may resolve the approvals of the tools that one configuration marks. */
interface Approvers {
  readonly marked: ReadonlySet<string>;
  readonly groupIds: readonly string[];
}

/** Stands in a list of tools for all of them. */
const ALL = "*";

/** What a configuration opens by itself, which is all there is for most groups: one for all of them. */
const alone = new WeakMap<ConfigRow, ToolAccess>();

function accessOf(row: ConfigRow): ToolAccess {
  let access = alone.get(row);
  if (access === undefined) {
    const approvalRequired = new Set(row.approval_required_tools);
    access = {
      configId: row.id,
      enabled: row.enabled_tools === null || row.enabled_tools.includes(ALL) ? null : new Set(row.enabled_tools),
      disabled: new Set(row.disabled_tools),
      approvalRequired,
      approvalTimeoutSeconds: row.approval_timeout_seconds,
      approvers: row.approver_group_ids.length === 0 ? [] : [{ marked: approvalRequired, groupIds: row.approver_group_ids }],
    };
    alone.set(row, access);
  }
  return access;
}

/** Two that hold for one server together; the first is of the nearer group. */
function both(near: ToolAccess, far: ToolAccess): ToolAccess {
  const { enabled } = far;
  return {
    configId: near.configId,
    enabled:
      near.enabled === null ? enabled : enabled === null ? near.enabled : new Set([...near.enabled].filter((name) => enabled.has(name))),
    disabled: new Set([...near.disabled, ...far.disabled]),
    approvalRequired: new Set([...near.approvalRequired, ...far.approvalRequired]),
    approvalTimeoutSeconds: Math.min(near.approvalTimeoutSeconds, far.approvalTimeoutSeconds),
    approvers: [...near.approvers, ...far.approvers],
  };
}

/**
 * The access of each server that one of the configurations, nearest group first, opens. Several of one server together
 * allow what each of them allows: a group can tighten what stands above it, never loosen it.
 */
export function toolAccessOf(configs: readonly ConfigRow[]): Map<string, ToolAccess> {
  const byServer = new Map<string, ToolAccess>();
  for (const row of configs) {
    if (!row.enabled) continue;
    const before = byServer.get(row.mcp_server_id);
    byServer.set(row.mcp_server_id, before === undefined ? accessOf(row) : both(before, accessOf(row)));
  }
  return byServer;
}

export function mayUseTool(access: ToolAccess, name: string): boolean {
  return (access.enabled === null || access.enabled.has(name)) && !marks(access.disabled, name);
}

export function needsApproval(access: ToolAccess, name: string): boolean {
  return marks(access.approvalRequired, name);
}

/**
 * Groups whose members may resolve an approval of the tool; empty: the requester's own. A configuration that does not
 * mark the tool has no say, and one of several that do cannot bring in who the others leave out: where they agree on
 * nobody, the one farthest up the tree counts.
 */
export function approversOf({ approvers }: Pick<ToolAccess, "approvers">, name: string): readonly string[] {
  const named = approvers.filter(({ marked }) => marks(marked, name)).map(({ groupIds }) => groupIds);
  const agreed = named[0]?.filter((id) => named.every((groupIds) => groupIds.includes(id))) ?? [];
  return agreed.length > 0 ? agreed : (named.at(-1) ?? []);
}

/** A name in another spelling is marked as well: a server that does not care about case or form would take it for the tool. */
function marks(tools: ReadonlySet<string>, name: string): boolean {
  if (tools.size === 0) return false;
  return tools.has(name) || tools.has(ALL) || spellings(tools).has(toolSpelling(name));
}

const spelled = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>();

function spellings(tools: ReadonlySet<string>): ReadonlySet<string> {
  let known = spelled.get(tools);
  if (known === undefined) {
    known = new Set([...tools].map(toolSpelling));
    spelled.set(tools, known);
  }
  return known;
}

/** Whether there is any rule about single tools, so that what cannot be read must not pass. */
export function restrictsTools(access: ToolAccess): boolean {
  return access.enabled !== null || access.disabled.size > 0 || access.approvalRequired.size > 0;
}
