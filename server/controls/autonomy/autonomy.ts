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

/** What a suspended system may still do: record its calls and end its runs. Portal and OAuth calls are made by people. */
const isBeyondSuspension = ({ proxyType, proxySubtype }: AuditClass): boolean =>
  proxyType === "portal" || proxyType === "oauth" || RECORDS.has(proxySubtype);

/**
 * Limits the calls of an AI System to its autonomy level. Suspended systems are refused; what `restricted` leaves out
 * is never granted in the first place (`directory/snapshot.ts`). If the level is no longer known, the tenant's floor
 * applies as well. Records the level on the row, with how reliably it is known.
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

/** Enforces a floor of `restricted`, which the last compiled scope does not reflect. */
function modelsOnly({ kind }: Target): Decision {
  if (kind === "model") return PASS;
  return refused(
    refuse(
      kind === "agent" ? "agent_not_allowed" : "tool_not_allowed",
      "Nothing is known of this AI System just now, so it may only ask models.",
    ),
  );
}
