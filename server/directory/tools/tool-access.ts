import { toolSpelling } from "../../kernel/text/folded-name.ts";
import type { TenantPolicyRows } from "../../store/records/policy-reads.ts";

type ConfigRow = TenantPolicyRows["server_configs"][number];

/** What a resource group's callers may use of one tool server. */
export interface ToolAccess {
  /** The configuration that grants access, the nearest if there are several; null for the gateway's own servers. */
  readonly configId: string | null;
  /** Null allows all that are not disabled. */
  readonly enabled: ReadonlySet<string> | null;
  readonly disabled: ReadonlySet<string>;
  readonly approvalRequired: ReadonlySet<string>;
  readonly approvalTimeoutSeconds: number;
  /** One entry per configuration that names approvers, nearest group first. */
  readonly approvers: readonly Approvers[];
}

/** Who may resolve approvals for the tools that one configuration marks. */
interface Approvers {
  readonly marked: ReadonlySet<string>;
  readonly groupIds: readonly string[];
}

/** Stands for all tools in a list. */
const ALL = "*";

/** The access from a configuration alone, shared by all groups that have no other, which is most of them. */
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

/** Combines two for one server; the first belongs to the nearer group. */
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
 * The access to each server granted by the configurations, nearest group first. Several for one server allow only what
 * each of them allows: a group can tighten what it inherits, never loosen it.
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
 * Groups whose members may resolve an approval of the tool; empty stands for the requester's own. Only configurations that
 * mark the tool count, and none of these can add groups that others leave out; if they have none in common, those of the
 * highest ancestor apply.
 */
export function approversOf({ approvers }: Pick<ToolAccess, "approvers">, name: string): readonly string[] {
  const named = approvers.filter(({ marked }) => marks(marked, name)).map(({ groupIds }) => groupIds);
  const agreed = named[0]?.filter((id) => named.every((groupIds) => groupIds.includes(id))) ?? [];
  return agreed.length > 0 ? agreed : (named.at(-1) ?? []);
}

/** Also matches other spellings of a name, since a server that ignores case or Unicode form would run the tool. */
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

/** Whether any rule concerns individual tools, so that unreadable messages must be refused. */
export function restrictsTools(access: ToolAccess): boolean {
  return access.enabled !== null || access.disabled.size > 0 || access.approvalRequired.size > 0;
}
