import { stricter } from "../../directory/assurance/autonomy.ts";
import type { AgentEntry, AgentGrantEntry } from "../../directory/agents/agent-entry.ts";
import { grantFor } from "../../directory/agents/deciding-grant.ts";
import type { GroupScope } from "../../directory/snapshot.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { StandingControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";
import { MOST_HOPS } from "../../road/record/delegation.ts";
import type { AgentReference } from "../../road/target.ts";

/**
 * An agent is open to a call when the grant that decides for the call's resource group lets it be, was given for the skills
 * the agent has, and the run did not come through the agent already. Sets `call.target`, and says on the row what decided.
 */
export const agentAccess: StandingControl = {
  name: "agent_access",
  decide(call, view) {
    const { target } = view;
    const { scope } = call;
    if (target.kind !== "agent" || scope === null) return PASS;
    const agent =
      target.tenantId !== null && target.tenantId !== scope.tenant.id ? undefined : scope.tenant.agents.byCardName.get(target.cardName);
    if (agent === undefined) return refused(refuse("agent_not_found"));
    const { row } = call;
    const level = scope.autonomy?.level ?? "autonomous";
    row.server_id = agent.id;
    const grant = grantFor(scope.tenant.agents.grants.get(agent.id) ?? [], scope.chain, scope.grantingGroups);
    row.agent_grant_id = grant?.id ?? null;
    row.agent_authz_decision = "deny";
    row.autonomy_provenance ??= "live";
    row.autonomy_level = "restricted";
    if (scope.autonomy?.bounds?.agents?.has(agent.id) === false) return refused(refuse("agent_not_allowed"));
    if (grant === null || grant.decision === "deny") return refused(refuse("agent_not_allowed"));
    if (!agent.enabled) {
      row.autonomy_level = "suspended";
      return refused(refuse("agent_disabled"));
    }
    const refusal =
      (grant.outdated ? refuse("agent_grant_outdated") : null) ?? (target.sends ? refusedSending(call, scope, target, agent, grant) : null);
    if (refusal !== null) return refused(refusal);
    row.agent_authz_decision = "allow";
    row.autonomy_level = stricter(level, grant.decision === "approval_required" ? "approval_required" : "autonomous");
    call.target = { kind: "agent", agent, grant, skill: target.skill, skills: usableSkills(agent, grant) };
    return PASS;
  },
};

/** Of the agent's skills those that both its registration and the grant let be used; null: all it has. */
function usableSkills({ skillsAllowed, reached }: AgentEntry, { skillIds }: AgentGrantEntry): ReadonlySet<string> | null {
  if (skillsAllowed === null && skillIds === null) return null;
  const all = (reached?.skills ?? []).map(({ id }) => String(id));
  const usable = all.filter((id) => skillsAllowed?.has(id) !== false && skillIds?.has(id) !== false);
  return usable.length === all.length ? null : new Set(usable);
}

function refusedSending(
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
  // Whoever calls with an agent's own credentials is that agent.
  const self = scope.tenant.agents.byGroup.get(scope.groupId);
  if (self?.id === agent.id || hops.some((hop) => hop.agent === agent.cardName)) return refuse("delegation_loop");
  if (depth > Math.min(grant.maxDepth ?? MOST_HOPS, MOST_HOPS)) return refuse("delegation_too_deep");
  const skills = usableSkills(agent, grant);
  if (skills !== null && (skill === null || !skills.has(skill)))
    return refuse("agent_skill_not_allowed", undefined, { extra: { skills: [...skills] } });
  return null;
}
