import type { Difference } from "./differences.ts";
import type { PortkeyProvider } from "./portkey.ts";

/** Why a difference is as it should be, and which differences it speaks of. */
export interface Explanation {
  readonly reason: string;
  /** Where it is: `*` stands for one member or position, `**` at the end for all that follow. */
  readonly at: string;
  /** Left out: to every provider. */
  readonly to?: readonly PortkeyProvider[];
  /** Left out: in every exchange. */
  readonly in?: readonly string[];
  /** Left out: whatever the values are. Undefined stands for a member that is not there. */
  readonly ours?: (value: unknown) => boolean;
  readonly theirs?: (value: unknown) => boolean;
}

export function explains(explanation: Explanation, to: PortkeyProvider, name: string, { at, ours, theirs }: Difference): boolean {
  return (
    (explanation.to?.includes(to) ?? true) &&
    (explanation.in?.includes(name) ?? true) &&
    patternOf(explanation.at).test(at) &&
    (explanation.ours?.(ours) ?? true) &&
    (explanation.theirs?.(theirs) ?? true)
  );
}

function patternOf(at: string): RegExp {
  const source = at.split(".").map((part) => (part === "**" ? ".*" : part === "*" ? "[^.]+" : part.replace(/[$()[\]\\^|+?{}]/g, "\\$&"))).join("\\.");
  return new RegExp(`^${source}$`);
}

export const EXPLAINED: readonly Explanation[] = [];
