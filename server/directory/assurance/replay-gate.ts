import type { ReplayGate, ReplayTotals } from "@gatehouse/contracts/ai-replay";
import { wilsonLower } from "./wilson-bound.ts";

export interface GateFacts {
  /** Null if there is no suite. */
  readonly suite: { readonly threshold: number } | null;
  /** The contract that the gate is evaluated for. */
  readonly contractDigest: string | null;
  /** The newest finished run of that suite under that contract. */
  readonly run: { readonly id: string; readonly totals: ReplayTotals; readonly endedAt: number } | null;
  /** Model versions first seen after the run. */
  readonly newModels: readonly string[];
  readonly now: number;
}

const DAY_MS = 86_400_000;
const GOOD_FOR_DAYS = 7;
const MAX_ERRORS = 0.02;
const MIN_COVERAGE = 0.8;
/** How far below the threshold the lower bound of the pass rate may be. */
const BOUND_SLACK = 0.05;

/** Whether replays support a contract. Anything uncertain does not pass. */
export function replayGateOf({ suite, contractDigest, run, newModels, now }: GateFacts): ReplayGate {
  const nothing = { contract_digest: contractDigest, run_id: run?.id ?? null, pass_rate: null, lower_bound: null, coverage: null };
  if (suite === null) return { ...nothing, verdict: "no_suite", reasons: ["No suite is frozen."] };
  if (run === null) return { ...nothing, verdict: "not_run", reasons: ["No run of this suite came to an end under this contract."] };
  const { totals } = run;
  const replayed = totals.cases - totals.skipped;
  const counted = replayed - totals.errors;
  const [rate, bound] = [counted === 0 ? 0 : totals.passed / counted, wilsonLower(totals.passed, counted)];
  const coverage = totals.cases === 0 ? 0 : replayed / totals.cases;
  const result = { ...nothing, pass_rate: rate, lower_bound: bound, coverage };
  const failures = [
    ...(totals.must_failed > 0 ? [`${totals.must_failed} cases failed that must not.`] : []),
    ...(rate < suite.threshold && counted > 0 ? [`${percent(rate)} of the cases passed, ${percent(suite.threshold)} have to.`] : []),
  ];
  if (failures.length > 0) return { ...result, verdict: "failed", reasons: failures };
  const doubts = [
    ...(totals.must_skipped > 0 ? [`${totals.must_skipped} cases that must pass are not kept any more.`] : []),
    ...(coverage < MIN_COVERAGE ? [`Only ${percent(coverage)} of the cases are still kept.`] : []),
    ...(totals.errors > MAX_ERRORS * replayed ? [`${totals.errors} cases could not be carried out.`] : []),
    ...(bound < suite.threshold - BOUND_SLACK ? [`${counted} cases are too few to say that ${percent(suite.threshold)} pass.`] : []),
  ];
  if (doubts.length > 0) return { ...result, verdict: "inconclusive", reasons: doubts };
  const aged = [
    ...(now - run.endedAt > GOOD_FOR_DAYS * DAY_MS ? [`The run is older than ${GOOD_FOR_DAYS} days.`] : []),
    ...newModels.map((model) => `${model} answers since then, which the run did not ask.`),
  ];
  return aged.length > 0 ? { ...result, verdict: "stale", reasons: aged } : { ...result, verdict: "passed", reasons: [] };
}

const percent = (share: number): string => `${Math.round(1000 * share) / 10} %`;
