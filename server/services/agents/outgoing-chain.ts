import type { Call } from "../../road/call.ts";
import { delegationHeaders } from "../../road/record/delegation.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentParts } from "./agent-parts.ts";

/** Headers that pass the delegation chain of the run on to an agent. */
export function outgoingHeaders(call: Call, { agent }: AgentRoute, { secrets, clock }: AgentParts): Record<string, string> {
  const { row, scope, delegation } = call;
  const hops = delegation?.hops ?? [];
  const chain = {
    root: delegation?.root ?? String(row.root_task_id),
    kind: delegation?.kind ?? String(row.trace_root_kind),
    hops: [
      ...hops,
      { agent: agent.cardName, group: scope?.groupId ?? "", depth: hops.length + 1, at: Math.floor(clock.now() / 1000), task: call.id },
    ],
  };
  return delegationHeaders(secrets, scope?.tenant.id ?? "", chain);
}
