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
  /** Public base URL of the runtime plane, without a trailing slash; null: use the request's own origin. */
  readonly publicUrl: string | null;
  /** Whether push notifications may be sent to private addresses. */
  readonly allowPrivate: boolean;
  /** Whether a host is resolved and checked by a proxy. */
  readonly isLeftToProxy: (to: URL) => boolean;
}

export function baseOf({ publicUrl }: Pick<AgentParts, "publicUrl">, call: Pick<Call, "url">): string {
  return publicUrl ?? new URL(call.url).origin;
}
