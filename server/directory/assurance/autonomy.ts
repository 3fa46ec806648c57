import { AUTONOMY_LEVELS, type AutonomyLevel, type LifecycleState } from "@gatehouse/contracts/ai-systems";
import type { ResponseAction } from "@gatehouse/contracts/ai-responses";
import type { AutonomyRow } from "../../store/assurance/ai-systems.ts";
import type { ToolAccess } from "../tools/tool-access.ts";

/** What `restricted` allows, by kind; null allows all of a kind. */
export interface AutonomyBounds {
  readonly models: ReadonlySet<string> | null;
  readonly servers: ReadonlySet<string> | null;
  readonly tools: ReadonlySet<string> | null;
  readonly agents: ReadonlySet<string> | null;
}

/** How freely a group's calls may act: the restrictions of its own system and of all above it, combined. */
export interface Autonomy {
  /** The strictest level of them. */
  readonly level: AutonomyLevel;
  /** Whether each action needs approval, whatever else applies. */
  readonly asksFirst: boolean;
  readonly bounds: AutonomyBounds | null;
}

/** Allows model calls but no actions. Also applies to a restricted system whose envelope lists nothing. */
const NO_ACTIONS: AutonomyBounds = { models: null, servers: new Set(), tools: null, agents: new Set() };

export function stricter(a: AutonomyLevel, b: AutonomyLevel): AutonomyLevel {
  return AUTONOMY_LEVELS.indexOf(a) >= AUTONOMY_LEVELS.indexOf(b) ? a : b;
}

/** The highest autonomy that a lifecycle state allows. */
export function levelOfState(state: LifecycleState): AutonomyLevel {
  if (state === "suspended" || state === "retired") return "suspended";
  return state === "restricted" ? "restricted" : "autonomous";
}

function boundsOf({ restrictions }: Pick<AutonomyRow, "restrictions">): AutonomyBounds {
  if (restrictions === null) return NO_ACTIONS;
  const named = (names: string[] | null | undefined) => (names == null ? null : new Set(names));
  return {
    models: named(restrictions.model_ids),
    servers: named(restrictions.mcp_server_ids),
    tools: named(restrictions.tools),
    agents: named(restrictions.agent_ids),
  };
}

function both(a: ReadonlySet<string> | null, b: ReadonlySet<string> | null): ReadonlySet<string> | null {
  if (a === null || b === null) return a ?? b;
  return new Set([...a].filter((one) => b.has(one)));
}

function together(a: AutonomyBounds | null, b: AutonomyBounds | null): AutonomyBounds | null {
  if (a === null || b === null) return a ?? b;
  return {
    models: both(a.models, b.models),
    servers: both(a.servers, b.servers),
    tools: both(a.tools, b.tools),
    agents: both(a.agents, b.agents),
  };
}

/** The level that each response reduces the system to, at least. */
const LEVEL_OF_ACTION: Record<ResponseAction, AutonomyLevel> = {
  require_approval: "approval_required",
  block_tools: "restricted",
  restrict: "restricted",
  suspend: "suspended",
};

function autonomyOfSystem(row: AutonomyRow): Autonomy {
  const actions = row.actions as ResponseAction[];
  const declared = [row.autonomy_level as AutonomyLevel, levelOfState(row.lifecycle_state as LifecycleState)];
  const levels = [...declared, ...actions.map((action) => LEVEL_OF_ACTION[action])];
  const leavesEnvelope = declared.includes("restricted") || actions.includes("restrict");
  return {
    level: levels.reduce(stricter),
    asksFirst: levels.includes("approval_required"),
    bounds: together(leavesEnvelope ? boundsOf(row) : null, actions.includes("block_tools") ? NO_ACTIONS : null),
  };
}

/** The combined autonomy of a chain of groups; null if none of them is an AI System. Each can only narrow what the others allow. */
export function autonomyOf(groupIds: readonly string[], systems: ReadonlyMap<string, AutonomyRow>): Autonomy | null {
  let all: Autonomy | null = null;
  for (const id of groupIds) {
    const row = systems.get(id);
    if (row === undefined) continue;
    const one = autonomyOfSystem(row);
    all =
      all === null
        ? one
        : { level: stricter(all.level, one.level), asksFirst: all.asksFirst || one.asksFirst, bounds: together(all.bounds, one.bounds) };
  }
  return all;
}

/** The access to tool servers that remains within the bounds. */
export function boundedTools(tools: Map<string, ToolAccess>, { servers, tools: names }: AutonomyBounds): Map<string, ToolAccess> {
  const left = new Map<string, ToolAccess>();
  for (const [serverId, access] of tools) {
    if (servers !== null && !servers.has(serverId)) continue;
    left.set(serverId, names === null ? access : { ...access, enabled: both(access.enabled, names) });
  }
  return left;
}
