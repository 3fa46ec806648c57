import type { AgentTasks } from "../../directory/agents/tasks.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Log } from "../../kernel/log.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import type { Outlet } from "../../road/outlet.ts";
import type { AgentUpstream } from "../../upstreams/agents/agent-client.ts";

/** The dependencies of calls to agents. */
export interface AgentParts {
  readonly outlet: Outlet<AgentUpstream>;
  readonly gates: Gates;
  readonly tasks: AgentTasks;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  /** Where callers reach the runtime plane, without a closing slash; null: where the request came in. */
  readonly publicUrl: string | null;
  /** Whether addresses of this machine and network may be told of tasks. */
  readonly allowPrivate: boolean;
}

export function baseOf({ publicUrl }: Pick<AgentParts, "publicUrl">, call: Pick<Call, "url">): string {
  return publicUrl ?? new URL(call.url).origin;
}
