import type { AgentEntry, AgentGrantEntry } from "../../directory/agents/agent-entry.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import { MAX_HOPS } from "../../road/record/delegation.ts";
import type { AgentReference } from "../../road/target.ts";

/** The agent's skills that both its registration and the grant allow; null if neither restricts them. */
export function usableSkills({ skillsAllowed, reached }: AgentEntry, { skillIds }: AgentGrantEntry): ReadonlySet<string> | null {
  if (skillsAllowed === null && skillIds === null) return null;
  const all = (reached?.skills ?? []).map(({ id }) => String(id));
  const usable = all.filter((id) => skillsAllowed?.has(id) !== false && skillIds?.has(id) !== false);
  return usable.length === all.length ? null : new Set(usable);
}

/** Why a message may not be sent to the agent; null if it may. */
export function refusedSending(
  call: Call,
  scope: GroupScope,
  { skill }: AgentReference,
  agent: AgentEntry,
  grant: AgentGrantEntry,
): Refusal | null {
  const { row, delegation } = call;
  const hops = delegation?.hops ?? [];
  const depth = hops.length + 1;
  row.delegation_depth = depth;
  row.current_task_id = call.id;
  if (agent.reached === null) return refuse("agent_undiscovered");
  // Calls made with an agent's own credentials count as that agent.
  const self = scope.tenant.agents.byGroup.get(scope.groupId);
  if (self?.id === agent.id || hops.some((hop) => hop.agent === agent.cardName)) return refuse("delegation_loop");
  if (depth > Math.min(grant.maxDepth ?? MAX_HOPS, MAX_HOPS)) return refuse("delegation_too_deep");
  const skills = usableSkills(agent, grant);
  if (skills !== null && (skill === null || !skills.has(skill)))
    return refuse("agent_skill_not_allowed", undefined, { extra: { skills: [...skills] } });
  return null;
}
