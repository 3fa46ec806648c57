import { type Refusal, refuse } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { toolsOf } from "../../../road/target.ts";

/** Decides whether a stream of changes ends: its caller would be refused now, or would no longer reach all servers it began with. */
export function changesVerdict(refusal: Refusal | null, { target }: Call, then: Call): Refusal | null {
  if (refusal !== null || target.kind !== "tool") return refusal;
  const still = new Set(target.targets.map(({ server }) => server.id));
  return toolsOf(then)?.targets.every(({ server }) => still.has(server.id)) === false ? refuse("tool_server_not_allowed") : null;
}
