import { stricter } from "../../directory/assurance/autonomy.ts";
import { refuse } from "../../kernel/errors.ts";
import type { RequestControl } from "../../road/control.ts";
import { PASS, refused } from "../../road/decision.ts";

/**
 * Calls of an AI System go as far as its autonomy lets them: a suspended one is refused, and what `restricted` leaves out is
 * not granted to begin with (`directory/snapshot.ts`). Says on the row how far that was, and how sure the gateway is of it.
 * `isCurrent`: whether this process heard of changes lately.
 */
export function autonomy(isCurrent: () => boolean): RequestControl {
  return {
    name: "autonomy",
    decide({ scope, row }, { target }) {
      const held = scope?.autonomy ?? null;
      if (held === null || target.kind === "none") return PASS;
      row.autonomy_level = stricter((row.autonomy_level as typeof held.level | null | undefined) ?? "autonomous", held.level);
      row.autonomy_provenance = isCurrent() ? "live" : "last_known_good";
      return held.level === "suspended" ? refused(refuse("ai_system_suspended")) : PASS;
    },
  };
}
