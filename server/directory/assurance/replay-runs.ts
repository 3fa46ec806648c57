import type { ReplayGate, ReplayRun, ReplayRunWithResults, ReplayState } from "@gatehouse/contracts/ai-replay";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import { contractVersion, newestContract } from "../../store/assurance/ai-contracts.ts";
import { observationsOf } from "../../store/assurance/ai-observations.ts";
import type { Database, Trx } from "../../store/database.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { newestSuite } from "../../store/assurance/replay-suites.ts";
import { endedRun, findReplayRun, insertReplayRun, replayRunPage, type ReplayRunRow, updateOpenRun } from "../../store/assurance/replay.ts";
import { notFound } from "../writes/records.ts";
import { sealRecord, systemAlone } from "../writes/sealed-record.ts";
import type { Directory, Write } from "../writes/write.ts";
import { foundSystem, lockedSystem, refuseRetired } from "./ai-systems.ts";
import { replayGateOf } from "./replay-gate.ts";
import { replayRunRecord } from "./replay-run-record.ts";
import { readSuite } from "./replay-suites.ts";

/** The replay gate of the contract with this digest. */
export async function gateFor(
  db: Database | Trx,
  tenantId: string,
  systemId: string,
  contractDigest: string | null,
  now: Date,
): Promise<ReplayGate> {
  const suite = await newestSuite(db, tenantId, systemId);
  const run = suite === undefined || contractDigest === null ? undefined : await endedRun(db, tenantId, systemId, suite.id, contractDigest);
  const endedAt = run?.ended_at ?? null;
  const models = endedAt === null ? [] : (await observationsOf(db, tenantId, systemId)).filter(({ kind }) => kind === "model");
  return replayGateOf({
    suite: suite === undefined ? null : readSuite(suite),
    contractDigest,
    run:
      run === undefined || run.totals === null || endedAt === null ? null : { id: run.id, totals: run.totals, endedAt: endedAt.getTime() },
    newModels: models.filter(({ first_seen: seen }) => endedAt !== null && seen > endedAt).map(({ subject }) => subject),
    now: now.getTime(),
  });
}

/**
 * The suite, its newest run, and the gate of a contract version: the one named, otherwise the newest promotable one,
 * otherwise the active one.
 */
export async function readReplay(
  directory: Directory,
  tenantId: string,
  systemId: string,
  version: number | undefined,
): Promise<ReplayState> {
  const { db } = directory;
  await foundSystem(db, tenantId, systemId);
  const contract =
    version === undefined
      ? ((await newestContract(db, tenantId, systemId, ["draft", "proposed", "approved"])) ??
        (await newestContract(db, tenantId, systemId, ["active"])))
      : await contractVersion(db, tenantId, systemId, version);
  if (contract === undefined && version !== undefined) throw notFound("version of the contract");
  const suite = await newestSuite(db, tenantId, systemId);
  const { items } = await replayRunPage(db, tenantId, systemId, { limit: 1, offset: 0 });
  return {
    ai_system_id: systemId,
    suite: suite === undefined ? null : readSuite(suite),
    last_run: items[0] === undefined ? null : replayRunRecord(items[0]),
    contract_version: contract?.version ?? null,
    gate: await gateFor(db, tenantId, systemId, contract?.digest ?? null, new Date(directory.clock.now())),
  };
}

export async function listReplayRuns({ db }: Directory, tenantId: string, systemId: string, page: Page): Promise<Paged<ReplayRun>> {
  await foundSystem(db, tenantId, systemId);
  const { items, total } = await replayRunPage(db, tenantId, systemId, page);
  return { items: items.map(replayRunRecord), total };
}

async function foundRun(db: Database | Trx, tenantId: string, systemId: string, id: string): Promise<ReplayRunRow> {
  const row = await findReplayRun(db, tenantId, systemId, id);
  if (row === undefined) throw notFound("replay run");
  return row;
}

export async function readReplayRun({ db }: Directory, tenantId: string, systemId: string, id: string): Promise<ReplayRunWithResults> {
  await foundSystem(db, tenantId, systemId);
  const row = await foundRun(db, tenantId, systemId, id);
  return { ...replayRunRecord(row), results: row.results };
}

/** Queues a run of the newest suite, which a process with the runtime role executes. */
export async function requestReplayRun(write: Write, tenantId: string, systemId: string): Promise<ReplayRun> {
  refuseRetired(await lockedSystem(write, tenantId, systemId));
  const suite = await newestSuite(write.trx, tenantId, systemId);
  if (suite === undefined)
    throw new Refused(
      refuse("illegal_transition", "There is no suite to run: freeze one first.", { extra: { state: "no_suite", allowed: ["freeze"] } }),
    );
  const { items } = await replayRunPage(write.trx as Database, tenantId, systemId, { limit: 1, offset: 0 });
  const open = items[0];
  if (open?.state === "queued" || open?.state === "running")
    throw new Refused(
      refuse("illegal_transition", "A run of this AI System is under way.", { extra: { state: open.state, allowed: ["cancel"] } }),
    );
  const id = uuid();
  await insertReplayRun(write.trx, {
    ...{ id, tenant_id: tenantId, ai_system_id: systemId, suite_id: suite.id },
    requested_by: write.actor.username,
    created_at: write.now,
  });
  seal(write, { tenant_id: tenantId, ai_system_id: systemId, id }, "request", { suite_version: suite.version });
  return replayRunRecord(await foundRun(write.trx, tenantId, systemId, id));
}

export async function cancelReplayRun(write: Write, tenantId: string, systemId: string, id: string): Promise<ReplayRun> {
  await lockedSystem(write, tenantId, systemId);
  const row = await foundRun(write.trx, tenantId, systemId, id);
  if (!(await updateOpenRun(write.trx, id, { state: "cancelled", ended_at: write.now })))
    throw new Refused(refuse("illegal_transition", "This run came to its end.", { extra: { state: row.state, allowed: [] } }));
  seal(write, row, "cancel", {});
  return replayRunRecord(await foundRun(write.trx, tenantId, systemId, id));
}

/** Seals the result of a run in the admin log. */
export function sealReplayRun(write: Write, row: RunKey, details: Readonly<Record<string, unknown>>): void {
  seal(write, row, "end", details);
}

interface RunKey {
  readonly tenant_id: string;
  readonly ai_system_id: string;
  readonly id: string;
}

function seal(write: Write, run: RunKey, action: string, details: Readonly<Record<string, unknown>>): void {
  const { tenant_id: tenantId, ai_system_id: systemId, id } = run;
  sealRecord(write, {
    tenantId,
    system: systemAlone(systemId),
    action,
    resource: "replay-runs",
    resource_id: id,
    context: { record_type: "ai.gw.replay-run", ...details },
  });
}
