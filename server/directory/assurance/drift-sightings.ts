import type { Conformance, ContractClauses } from "@gatehouse/contracts/ai-contracts";
import type { DriftFinding, Liveness } from "@gatehouse/contracts/ai-drift";
import type { ObservationRow } from "../../store/assurance/ai-observations.ts";
import type { WindowRow } from "../../store/assurance/incident-windows.ts";
import type { Metric, Shift } from "./drift-statistics.ts";
import { isSkillServerOfAny } from "../skills/skill-server.ts";
import { isKnowledgeServerOfAny } from "../tools/knowledge-server.ts";
import { isSetAside, type Normal } from "./baselines.ts";

/** An observed behaviour that is not permitted or not normal. */
export interface Sighting extends Pick<DriftFinding, "kind" | "severity" | "subject" | "title" | "detail" | "occurrences"> {
  readonly firstSeen: Date;
  readonly lastSeen: Date;
  readonly firstRow: string | null;
  readonly lastRow: string | null;
}

export interface DriftFacts {
  readonly observations: readonly ObservationRow[];
  readonly windows: readonly WindowRow[];
  /** The active contract; null if there is none. */
  readonly contract: {
    readonly version: number;
    readonly since: Date;
    readonly clauses: ContractClauses;
    readonly conformance: Conformance;
  } | null;
  /** What has been normal since the newest epoch; null while it is being learned. */
  readonly normal: Normal | null;
  /** Figures that have left the normal range and not returned. */
  readonly shifts: readonly Shift[];
  readonly liveness: Liveness;
  readonly now: Date;
}

/** Everything that drifts, from the first occurrence on. */
export function driftSightings(facts: DriftFacts): Sighting[] {
  return [
    ...facts.observations.filter((one) => !isSetAside(one, facts.windows)).flatMap((one) => sightingOf(one, facts) ?? []),
    ...configuration(facts),
    ...facts.shifts.map(shifted),
    ...silence(facts),
    ...silentControls(facts),
  ];
}

type SightingText = Pick<Sighting, "kind" | "severity" | "title">;

function sightingOf(one: ObservationRow, facts: DriftFacts): Sighting | null {
  const sighting = outsideContract(one, facts.contract) ?? (isAgreed(one, facts.contract) ? null : outsideNormal(one, facts.normal));
  if (sighting === null) return null;
  const { subject, detail, calls: occurrences } = one;
  return {
    ...sighting,
    ...{ subject, detail, occurrences },
    firstSeen: one.first_seen,
    lastSeen: one.last_seen,
    firstRow: one.first_row,
    lastRow: one.last_row,
  };
}

/** Ignores what was last seen before the contract came into force. */
function outsideContract({ kind, detail, last_seen: seen }: ObservationRow, contract: DriftFacts["contract"]): SightingText | null {
  if (contract === null || seen < contract.since) return null;
  const { clauses, version } = contract;
  if (kind === "model" && !Object.values(clauses.models).some(({ name }) => name === detail.model))
    return { kind: "model_drift", severity: "high", title: `The model ${detail.model} is not in contract ${version}` };
  if (kind === "data" && clauses.regions.length > 0 && detail.region !== undefined && !clauses.regions.includes(String(detail.region)))
    return { kind: "data_drift_class", severity: "critical", title: `The region ${detail.region} is not in contract ${version}` };
  if (kind === "skill" && clauses.skills[String(detail.skill_id)] === undefined)
    return { kind: "tool_drift", severity: "high", title: `The skill ${detail.skill_id} is not in contract ${version}` };
  // Skills and knowledge bases are clauses of their own, not tools of a server.
  if (kind !== "tool" || isSkillServerOfAny(String(detail.server_id)) || isKnowledgeServerOfAny(String(detail.server_id))) return null;
  const server = clauses.tool_servers[String(detail.server_id)];
  if (server === undefined)
    return { kind: "tool_drift", severity: "high", title: `The tool server ${detail.server_id} is not in contract ${version}` };
  const agreed = server.definitions[String(detail.tool)];
  if (agreed === undefined)
    return { kind: "tool_drift", severity: "high", title: `The tool ${detail.tool} of ${server.name} is not in contract ${version}` };
  return detail.definition === null || detail.definition === agreed
    ? null
    : { kind: "tool_drift", severity: "high", title: `The tool ${detail.tool} of ${server.name} is not the one of contract ${version}` };
}

/** Once there is a contract, it defines the expected models and tools, but not the vendor's model versions. */
function isAgreed({ kind, detail }: ObservationRow, contract: DriftFacts["contract"]): boolean {
  return contract !== null && (kind === "tool" || (kind === "model" && detail.upstream_model == null));
}

const UNUSUAL: Readonly<Record<string, SightingText>> = {
  model: { kind: "model_drift", severity: "medium", title: "A model, or a version of one, that was not seen before" },
  tool: { kind: "tool_drift", severity: "medium", title: "A tool, or a definition of one, that was not seen before" },
  caller: { kind: "caller_drift", severity: "medium", title: "A caller that was not seen before" },
  prompt: { kind: "prompt_drift", severity: "medium", title: "Instructions that were not seen before" },
  data: { kind: "data_drift_class", severity: "high", title: "A kind of data, or a region, that was not seen before" },
};

function outsideNormal({ kind, subject }: ObservationRow, normal: Normal | null): SightingText | null {
  return normal?.[kind]?.includes(subject) === false ? (UNUSUAL[kind] ?? null) : null;
}

function configuration({ contract, now }: DriftFacts): Sighting[] {
  const { conformance } = contract ?? {};
  if (contract === null || conformance == null || conformance.conforms) return [];
  const { overall, live_digest, differences } = conformance;
  return [
    {
      kind: "config_drift",
      severity: overall === "widened" ? "high" : "low",
      subject: `contract ${contract.version}`,
      title: `The configuration is not what contract ${contract.version} says: ${overall}`,
      detail: { live_digest, differences, overall },
      occurrences: 1,
      firstSeen: now,
      lastSeen: now,
      firstRow: null,
      lastRow: null,
    },
  ];
}

const ofCalls = (subject: string, what: string) => (before: number, now: number) => ({
  subject,
  title: `${(100 * now).toFixed(1)} % of calls ${what}, where ${(100 * before).toFixed(1)} % are normal`,
});

const FIGURES: Record<Metric, (before: number, now: number) => { subject: string; title: string }> = {
  cost: (before, now) => ({ subject: "cost of a call", title: `A call costs ${percent(now / before - 1)} than is normal` }),
  token_shape: (before, now) => ({ subject: "tokens of a call", title: `A call takes ${percent(now / before - 1)} tokens than is normal` }),
  latency: (before, now) => ({ subject: "time of a call", title: `A call takes ${percent(now / before - 1)} time than is normal` }),
  volume: (before, now) => ({ subject: "calls of a week", title: `A week has ${percent(now / before - 1)} calls than is normal` }),
  error_rate: ofCalls("share of calls that fail", "fail"),
  refusal_rate: ofCalls("share of calls that are refused", "are refused"),
  guardrail_rate: ofCalls("share of calls that guardrails speak of", "set a guardrail off"),
};

const percent = (share: number): string => `${Math.abs(Math.round(100 * share))} % ${share > 0 ? "more" : "less"}`;

function shifted({ metric, before, now, at, since, calls }: Shift): Sighting {
  return {
    kind: metric,
    severity: "medium",
    ...FIGURES[metric](before, now),
    detail: { before, now, calls },
    occurrences: calls,
    firstSeen: new Date(since),
    lastSeen: new Date(at),
    firstRow: null,
    lastRow: null,
  };
}

function silence({ liveness, now }: DriftFacts): Sighting[] {
  if (liveness.status !== "silent" || liveness.last_call_at === null) return [];
  return [
    {
      kind: "liveness",
      severity: "high",
      subject: `since ${liveness.last_call_at}`,
      title: "It is called no more, far longer than is usual",
      detail: { last_call_at: liveness.last_call_at, ...liveness.expectation },
      occurrences: 1,
      firstSeen: now,
      lastSeen: now,
      firstRow: null,
      lastRow: null,
    },
  ];
}

/** Controls that show no activity while calls pass: silence does not mean that all is well. */
function silentControls({ liveness, windows, now }: DriftFacts): Sighting[] {
  return liveness.controls.flatMap(({ control, status, last_sign_at: last, last_row, calls_since, usual_share }) => {
    if (status !== "silent" || last === null) return [];
    const since = new Date(last);
    if (isSetAside({ first_seen: since, last_seen: now }, windows)) return [];
    return [
      {
        kind: "control_liveness",
        severity: "high",
        subject: `${control} since ${last}`,
        title:
          control === "checkpoints"
            ? "Rows of the ledger are under no checkpoint, long after one was due"
            : `${control.replaceAll("_", " ")} gave no sign of life in ${calls_since} calls`,
        detail: { control, usual_share, last_sign_at: last },
        occurrences: calls_since,
        firstSeen: since,
        lastSeen: new Date(Math.max(since.getTime(), Date.parse(liveness.last_call_at ?? now.toISOString()))),
        firstRow: null,
        lastRow: last_row,
      },
    ];
  });
}
