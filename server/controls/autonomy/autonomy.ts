import type { AutonomyLevel } from "@gatehouse/contracts/ai-systems";
import { stricter } from "../../directory/assurance/autonomy.ts";
import type { ConfigurationProvenance } from "../../directory/configuration-provenance.ts";
import { refuse } from "../../kernel/errors.ts";
import { RECORD_SUBTYPES } from "../../kernel/operations/record-subtypes.ts";
import type { AuditClass } from "../../road/call.ts";
import type { StandingControl } from "../../road/control.ts";
import { type Decision, PASS, refused } from "../../road/decision.ts";
import type { Target } from "../../road/target.ts";

const RECORDS: ReadonlySet<string> = new Set(RECORD_SUBTYPES);

/** What a suspended system may still do: have its calls recorded and its runs ended. What people do at the portal is theirs. */
const isBeyondSuspension = ({ proxyType, proxySubtype }: AuditClass): boolean =>
  proxyType === "portal" || proxyType === "oauth" || RECORDS.has(proxySubtype);

/**
 * Calls of an AI System go as far as its autonomy lets them: a suspended one is refused, and what `restricted` leaves out is
 * not granted to begin with (`directory/snapshot.ts`). Where nothing is known of it any more, it goes no further than the
 * tenant's floor. Says on the row how far that was, and how sure the gateway is of it.
 */
export function autonomy(knowledge: (tenantId: string) => ConfigurationProvenance): StandingControl {
  return {
    name: "autonomy",
    decide({ scope, row, audit }, { target }) {
      const held = scope?.autonomy ?? null;
      if (scope === null || held === null) return PASS;
      const known = knowledge(scope.tenant.id);
      const floor = known === "floor" ? scope.tenant.autonomyFloor : "autonomous";
      const level = stricter(held.level, floor);
      if (target.kind === "none" && (level !== "suspended" || isBeyondSuspension(audit))) return PASS;
      row.autonomy_level = stricter((row.autonomy_level as AutonomyLevel | null | undefined) ?? "autonomous", level);
      row.autonomy_provenance = known;
      if (level === "suspended") return refused(refuse("ai_system_suspended"));
      return floor === "restricted" ? modelsOnly(target) : PASS;
    },
  };
}

/** What a floor of `restricted` leaves: the scope that was compiled last says nothing of it. */
function modelsOnly({ kind }: Target): Decision {
  if (kind === "model") return PASS;
  return refused(
    refuse(
      kind === "agent" ? "agent_not_allowed" : "tool_not_allowed",
      "Nothing is known of this AI System just now, so it may only ask models.",
    ),
  );
}
