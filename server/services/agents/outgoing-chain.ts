import type { Call } from "../../road/call.ts";
import { delegationHeaders } from "../../road/record/delegation.ts";
import type { AgentRoute } from "../../road/target.ts";
import type { AgentParts } from "./agent-parts.ts";

const EXTENSIONS = /^[\x21-\x7e ]{1,2000}$/;

/** What the agent is told beside the request: how the run came to it, and which extensions its caller wants. */
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
  const extensions = call.headers.get("a2a-extensions") ?? call.headers.get("x-a2a-extensions");
  const name = agent.reached?.version === "0.3" ? "x-a2a-extensions" : "a2a-extensions";
  return {
    ...delegationHeaders(secrets, scope?.tenant.id ?? "", chain),
    ...(extensions !== null && EXTENSIONS.test(extensions) ? { [name]: extensions } : {}),
  };
}

/** What a request that gives nothing to do tells the agent beside itself: nothing. */
export const NO_HEADERS: Readonly<Record<string, string>> = {};
