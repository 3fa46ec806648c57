import type { AssuranceReport, SystemHealth } from "@gatehouse/contracts/ai-assurance";
import { usdFromMicros } from "../../kernel/money.ts";
import { evidenceStore } from "../../store/assurance/ai-system-evidence.ts";
import { type AiSystemRow, trafficOf } from "../../store/assurance/ai-systems.ts";
import { chainFaults } from "../../store/ledger/chain-faults.ts";
import { chainHeads, unanchoredChains } from "../../store/ledger/chain-heads.ts";
import { activeContract } from "../../store/assurance/ai-contracts.ts";
import { newestSuite } from "../../store/assurance/replay-suites.ts";
import { gateFor } from "./replay-runs.ts";
import { newestEpoch } from "../../store/assurance/baseline-epochs.ts";
import { openFindings } from "../../store/assurance/drift-findings.ts";
import type { Directory } from "../writes/write.ts";
import { foundSystem, readAiSystem } from "./ai-systems.ts";
import { gapsOf } from "./fleet-gaps.ts";
import { everything } from "./closure-parts.ts";
import { contractOnBoard } from "./contracts.ts";
import { statementsOver } from "./statements.ts";
import { healthOf } from "./health.ts";
import { ANCHORED_WITHIN_MS, livenessOf } from "./liveness.ts";

const DAY_MS = 86_400_000;
const WINDOW_DAYS = 30;
const PASSING_SCORE = 70;

async function factsOf(directory: Directory, row: AiSystemRow, now: number) {
  const { db } = directory;
  const { tenant_id: tenantId, id } = row;
  const [traffic] = await trafficOf(db, tenantId, [id], new Date(now - WINDOW_DAYS * DAY_MS));
  const contract = await contractOnBoard(directory, row);
  const baseline = await newestEpoch(db, tenantId, id);
  const open = await openFindings(db, tenantId, id);
  const { status } = await livenessOf(db, tenantId, id, now);
  const counted = { calls: traffic?.calls ?? 0, errors: traffic?.errors ?? 0 };
  const health = healthOf({
    ...{ system: row, contract, openFindings: open, liveness: status, traffic: counted },
    unanchored: (await unanchoredChains(db, new Date(now - ANCHORED_WITHIN_MS), tenantId)).chains,
    faults: await chainFaults(db, tenantId),
    hasBaseline: baseline !== undefined,
  });
  const { requests = 0, unpriced: without = 0 } = traffic ?? {};
  const unpriced = requests > 0 && without >= requests;
  return {
    contract,
    baseline,
    open,
    status,
    health,
    traffic: { ...counted, cost_usd: unpriced ? null : usdFromMicros(traffic?.micros ?? 0) },
  };
}

export async function readHealth(directory: Directory, tenantId: string, systemId: string): Promise<SystemHealth> {
  const row = await foundSystem(directory.db, tenantId, systemId);
  return { ai_system_id: systemId, ...(await factsOf(directory, row, directory.clock.now())).health };
}

async function replayFacts({ db }: Directory, { tenant_id: tenantId, id }: AiSystemRow, now: number) {
  const active = await activeContract(db, tenantId, id);
  const { verdict, run_id } = await gateFor(db, tenantId, id, active?.digest ?? null, new Date(now));
  const suite = await newestSuite(db, tenantId, id);
  const override = active?.gate_override ?? null;
  return {
    gate_override: override === null ? null : { admin: override.admin, at: override.at, reason: override.reason },
    replay: { verdict, run_id, suite_digest: suite?.digest ?? null },
  };
}

/** The current state of an AI System, with its traffic of the last 30 days. */
export async function readAssuranceReport(directory: Directory, tenantId: string, systemId: string): Promise<AssuranceReport> {
  const { db } = directory;
  const row = await foundSystem(db, tenantId, systemId);
  const now = directory.clock.now();
  const { contract, baseline, open, status, health, traffic } = await factsOf(directory, row, now);
  const { name, owner, purpose, role, risk_class, lifecycle_state, autonomy_level } = readAiSystem(row);
  const evidence = await everything((page) => evidenceStore.page(db, tenantId, { systemId }, page));
  const window = { from: new Date(now - WINDOW_DAYS * DAY_MS).toISOString(), to: new Date(now).toISOString() };
  const isPassed =
    lifecycle_state === "in_service" &&
    contract?.conforms === true &&
    (open.high ?? 0) + (open.critical ?? 0) === 0 &&
    (health.score ?? 0) >= PASSING_SCORE;
  return {
    schema: "ai.gw/assurance-report/v1",
    ai_system: { id: systemId, name, owner, purpose, role, risk_class, lifecycle_state, autonomy_level },
    at: window.to,
    window,
    contract,
    ...(await replayFacts(directory, row, now)),
    baseline: baseline === undefined ? null : { epoch: baseline.epoch, digest: baseline.digest },
    health,
    open_findings: open,
    liveness: status,
    traffic,
    evidence: evidence.map(({ id, kind, uri, sha256 }) => ({ id, kind, uri, sha256 }) as AssuranceReport["evidence"][number]),
    statements: await statementsOver(db, { tenantId, systemId, from: new Date(window.from), to: new Date(window.to) }),
    gaps: (await gapsOf(directory, row, contract, traffic.calls, new Date(now))).map(({ id }) => id),
    ledger: await chainHeads(db),
    result: isPassed ? "PASSED" : "FAILED",
  };
}
