import { stricter } from "../../directory/assurance/autonomy.ts";
import { grantFor } from "../../directory/agents/deciding-grant.ts";
import { refuse } from "../../kernel/errors.ts";
import type { StandingControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";
import { refusedSending, usableSkills } from "./agent-sending.ts";

/**
 * A call may use an agent if the grant that applies to the call's resource group allows it, was given for the agent's current
 * skills, and the run has not passed through that agent before. Sets `call.target` and records the deciding grant on the row.
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
