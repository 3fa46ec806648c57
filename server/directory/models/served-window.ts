import type { FallbackCondition } from "@gatehouse/contracts/routing-groups";

interface WindowOfMember {
  readonly contextWindow: number | null;
  readonly weight: number;
  readonly fallbackOn?: readonly FallbackCondition[] | undefined;
}

/**
 * The longest request, in tokens, that a routing group serves whichever member is asked first; null if unknown. Members that take over
 * requests too long for others widen it.
 */
export function servedWindow(members: readonly WindowOfMember[]): number | null {
  const known = (of: readonly WindowOfMember[]) => of.flatMap(({ contextWindow }) => contextWindow ?? []);
  const first = known(members.filter(({ weight, fallbackOn }) => weight > 0 || fallbackOn === undefined || fallbackOn.includes("failure")));
  const wide = known(members.filter(({ fallbackOn = [] }) => fallbackOn.includes("context_window")));
  return first.length === 0 ? null : Math.max(Math.min(...first), ...wide);
}
