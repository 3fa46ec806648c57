import type { SystemHealth } from "@gatehouse/contracts/ai-assurance";
import type { KnownFault } from "../../store/ledger/chain-faults.ts";
import { faultInWords } from "./chain-verdicts.ts";
import type { AiSystemRow, SystemTraffic } from "../../store/assurance/ai-systems.ts";

type Component = SystemHealth["components"][number];

export interface HealthFacts {
  readonly system: Pick<AiSystemRow, "lifecycle_state">;
  readonly contract: { readonly conforms: boolean } | null;
  readonly openFindings: Readonly<Record<string, number>>;
  readonly liveness: string;
  /** Within the period under review. */
  readonly traffic: Pick<SystemTraffic, "calls" | "errors">;
  /** The number of chains whose newest rows are overdue for a checkpoint. */
  readonly unanchored: number;
  /** Chains that failed verification. */
  readonly faults: readonly KnownFault[];
  readonly hasBaseline: boolean;
}

/** With fewer calls a score would not be meaningful. */
const MIN_CALLS = 200;

const FINDINGS: readonly (readonly [severity: string, score: number])[] = [
  ["critical", 0],
  ["high", 49],
  ["medium", 75],
  ["low", 92],
];
const LIVENESS: Readonly<Record<string, number | null>> = { live: 100, quiet: 100, stale: 75, silent: 49, unknown: null };
const LIFECYCLE: Readonly<Record<string, number>> = {
  in_service: 100,
  approved: 85,
  assessed: 80,
  registered: 75,
  restricted: 69,
  suspended: 20,
  retired: 20,
};
/** Upper bounds on the share of failed calls, with the score for each. */
const ERRORS: readonly (readonly [share: number, score: number])[] = [
  [0.01, 100],
  [0.05, 85],
  [0.2, 65],
  [1, 30],
];

/** The score is that of the worst component, so that good ones cannot offset it. */
export function healthOf(facts: HealthFacts): Omit<SystemHealth, "ai_system_id"> {
  const components = componentsOf(facts);
  const known = components.flatMap(({ score }) => score ?? []);
  const isKnown = facts.traffic.calls >= MIN_CALLS && facts.hasBaseline;
  const worst = Math.min(...known);
  // A bad score is shown even when little else is known.
  const score = isKnown || worst < 50 ? worst : null;
  return { score, band: bandOf(score), components };
}

function bandOf(score: number | null): SystemHealth["band"] {
  if (score === null) return "unknown";
  if (score >= 90) return "healthy";
  return score >= 70 ? "watch" : score >= 50 ? "degraded" : "unhealthy";
}

function recordComponent(unanchored: number, faults: HealthFacts["faults"]): Component {
  const about = { id: "record", title: "Its record is anchored" };
  const fault = faults.find(({ acknowledged }) => acknowledged === null);
  if (fault !== undefined) return { ...about, score: 20, detail: `Chain ${fault.chain_id} was verified as ${fault.verdict}.` };
  if (unanchored > 0) return { ...about, score: 80, detail: `${unanchored} chains have rows that no checkpoint is over.` };
  return { ...about, score: 100, detail: ["Every chain is under a signed checkpoint.", ...faults.map(faultInWords)].join(" ") };
}

function componentsOf({ system, contract, openFindings, liveness, traffic, unanchored, faults, hasBaseline }: HealthFacts): Component[] {
  const worst = FINDINGS.find(([severity]) => (openFindings[severity] ?? 0) > 0);
  const share = traffic.calls === 0 ? 0 : traffic.errors / traffic.calls;
  const errors = ERRORS.find(([most]) => share <= most)?.[1] ?? 30;
  return [
    recordComponent(unanchored, faults),
    {
      id: "contract",
      title: "It is what its contract says",
      score: contract === null ? 69 : contract.conforms ? 100 : 60,
      detail:
        contract === null
          ? "No contract is in force."
          : contract.conforms
            ? "The configuration conforms."
            : "The configuration left its contract.",
    },
    {
      id: "findings",
      title: "Nothing is found that is open",
      score: worst?.[1] ?? 100,
      detail: worst === undefined ? "No finding is open." : `${openFindings[worst[0]]} findings of severity ${worst[0]} are open.`,
    },
    { id: "liveness", title: "It is as lively as usual", score: LIVENESS[liveness] ?? null, detail: `It is ${liveness}.` },
    {
      id: "lifecycle",
      title: "It is in service",
      score: LIFECYCLE[system.lifecycle_state] ?? null,
      detail: `It is ${system.lifecycle_state.replaceAll("_", " ")}.`,
    },
    {
      id: "errors",
      title: "Its calls succeed",
      score: traffic.calls === 0 ? null : errors,
      detail: `${traffic.errors} of ${traffic.calls} calls failed.`,
    },
    {
      id: "baseline",
      title: "What is normal for it is known",
      score: hasBaseline ? 100 : null,
      detail: hasBaseline ? "A baseline is frozen." : "Its baseline is still learned.",
    },
  ];
}
