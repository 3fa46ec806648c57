import type { Database } from "../../store/database.ts";
import * as jobs from "../../store/batch/batch-jobs.ts";
import * as departures from "../../store/batch/batch-departures.ts";
import * as lines from "../../store/batch/batch-lines.ts";
import { callTotals } from "../../store/usage/usage-totals.ts";
import type { FileOwner } from "../../store/files/files.ts";
import type { BatchJobError, BatchProblem, BatchStatus } from "../../store/tables/batch.ts";

export type BatchJob = jobs.BatchJobWithCost;
export type NewBatchJob = Parameters<typeof jobs.createBatchJob>[1];
export type BatchLine = Awaited<ReturnType<typeof lines.linesAfter>>[number];
export type LineToRun = lines.TakenLine;
export type LineResult = lines.LineOutcome;
export type JobToRun = jobs.ActiveJob;
export type { AnswerOfLine, LineToGive, TakenSubmission } from "../../store/batch/batch-departures.ts";
export type { BatchJobError, BatchProblem, BatchStatus, FileOwner as JobOwner };

/** How long a row that may be in a dead process's journal is left to whichever process reopens that journal. */
const LEFT_TO_ITS_CHAIN_SECONDS = 600;

/** Stores batch jobs and their lines. */
export class BatchStore {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  readonly create = (job: NewBatchJob) => jobs.createBatchJob(this.db, job);
  readonly find = (owner: FileOwner, id: string) => jobs.findBatchJob(this.db, owner, id);
  readonly read = (id: string) => jobs.readBatchJob(this.db, id);
  readonly list = (...by: [FileOwner, string | undefined, Parameters<typeof jobs.listBatchJobs>[3]]) => jobs.listBatchJobs(this.db, ...by);
  readonly ofTenant = (...by: Tail<typeof jobs.batchJobsOfTenant>) => jobs.batchJobsOfTenant(this.db, ...by);
  readonly oneOfTenant = (tenantId: string, id: string) => jobs.batchJobOfTenant(this.db, tenantId, id);
  readonly errorKinds = (job: BatchJob) => jobs.errorKindsOf(this.db, job);
  readonly providerBatches = (job: BatchJob) => jobs.providerBatchesOf(this.db, job);
  readonly countOpen = (tenantId: string) => jobs.countOpenJobs(this.db, tenantId);
  readonly remove = (tenantId: string, id: string) => jobs.deleteBatchJob(this.db, tenantId, id);
  readonly removeEnded = (owner: FileOwner, id: string) => jobs.deleteEndedBatchJob(this.db, owner, id);
  readonly describe = (tenantId: string, id: string, facts: Parameters<typeof jobs.describeBatchJob>[3]) =>
    jobs.describeBatchJob(this.db, tenantId, id, facts);
  readonly start = (...by: [string, string, number, BatchJob["mode"]]) => jobs.startBatchJob(this.db, ...by);
  readonly fail = (tenantId: string, id: string, problems: readonly BatchProblem[]) => jobs.failValidation(this.db, tenantId, id, problems);
  readonly cancel = (owner: FileOwner, id: string) => jobs.cancelBatchJob(this.db, owner, id);
  readonly endAs = (...by: [string, BatchStatus, Parameters<typeof jobs.endBatchJobAs>[3]]) => jobs.endBatchJobAs(this.db, ...by);
  readonly pause = (id: string, until: Date, error: Parameters<typeof jobs.pauseBatchJob>[3]) =>
    jobs.pauseBatchJob(this.db, id, until, error);
  readonly resume = (id: string) => jobs.resumeBatchJob(this.db, id);
  readonly active = () => jobs.activeBatchJobs(this.db);
  readonly takeEnding = (owner: string, chain: string, seconds: number) =>
    jobs.takeEnding(this.db, owner, chain, seconds, LEFT_TO_ITS_CHAIN_SECONDS);
  readonly keepEndings = (...by: Tail<typeof jobs.keepEndings>) => jobs.keepEndings(this.db, ...by);
  readonly beginEnd = (id: string, owner: string, row: { id: string; chain: string }) => jobs.beginBatchEnd(this.db, id, owner, row);
  /** Which of these audit rows have reached the ledger. */
  readonly recorded = async (tenantId: string, ids: readonly string[]): Promise<ReadonlySet<string>> =>
    new Set((await callTotals(this.db, tenantId, ids)).map(({ id }) => id));
  readonly reportedBatchEnd = (tenantId: string, rowId: string) => jobs.reportedBatchEnd(this.db, tenantId, rowId);
  readonly finish = (...by: Tail<typeof jobs.finishBatchJob>) => jobs.finishBatchJob(this.db, ...by);
  readonly explain = (...by: Tail<typeof jobs.explainBatchJob>) => jobs.explainBatchJob(this.db, ...by);
  readonly sweep = () => jobs.sweepBatchJobs(this.db);

  readonly addLines = (job: lines.LinesOf, added: readonly lines.NewLine[]) => lines.addLines(this.db, job, added);
  readonly takeLines = (jobId: string, owner: string, most: number) => lines.takeLines(this.db, jobId, owner, most);
  readonly writeOutcomes = (owner: string, outcomes: readonly lines.LineOutcome[]) => lines.writeOutcomes(this.db, owner, outcomes);
  readonly returnLine = (owner: string, jobId: string, line: number) => lines.returnLine(this.db, owner, jobId, line);
  readonly returnUnbegun = (owner: string, begun: readonly string[]) => lines.returnUnbegun(this.db, owner, begun);
  readonly keepAlive = (runner: string, seconds: number) => lines.keepAlive(this.db, runner, seconds);
  readonly releaseClaims = (runners: readonly string[]) => lines.releaseClaims(this.db, runners);
  readonly endInterrupted = (runner: string, error: { code: string; message: string }) => lines.endInterrupted(this.db, runner, error);
  readonly linesAfter = (job: lines.LinesOf, after: number, most: number, states: readonly number[]) =>
    lines.linesAfter(this.db, job, after, most, states);
  readonly bodiesAfter = (job: lines.LinesOf, after: number, most: number) => lines.bodiesAfter(this.db, job, after, most);
  readonly page = (job: lines.LinesOf, page: { limit: number; offset: number }, finishedOnly: boolean) =>
    lines.pageOfLines(this.db, job, page, finishedOnly);
  readonly firstLinesOf = (job: lines.LinesOf, of: readonly number[]) => lines.firstLinesOf(this.db, job, of);
  readonly keyHash = (tenantId: string, keyId: string) => lines.keyHashOf(this.db, tenantId, keyId);

  readonly depart = (...by: Tail<typeof departures.departLine>) => departures.departLine(this.db, ...by);
  readonly toBundle = () => departures.linesToBundle(this.db);
  readonly bundle = (...by: Tail<typeof departures.bundleLines>) => departures.bundleLines(this.db, ...by);
  readonly withdraw = () => departures.withdrawLines(this.db);
  readonly takeSubmission = (...by: Tail<typeof departures.takeSubmission>) => departures.takeSubmission(this.db, ...by);
  readonly noteSubmission = (...by: Tail<typeof departures.noteSubmission>) => departures.noteSubmission(this.db, ...by);
  readonly linesToSend = (of: departures.TakenSubmission) => departures.linesToSend(this.db, of);
  readonly forgetSent = (of: departures.TakenSubmission) => departures.forgetSent(this.db, of);
  readonly callsAway = (owner: string) => departures.callsAway(this.db, owner);
  readonly knownBatches = (tenantId: string) => departures.knownBatches(this.db, tenantId);
  readonly writeAnswers = (...by: Tail<typeof departures.writeAnswers>) => departures.writeAnswers(this.db, ...by);
  readonly closeSubmission = (...by: Tail<typeof departures.closeSubmission>) => departures.closeSubmission(this.db, ...by);
  readonly takeAnswered = (job: lines.LinesOf, owner: string, chain: string, most: number) =>
    departures.takeAnswered(this.db, job, owner, chain, most, LEFT_TO_ITS_CHAIN_SECONDS);
  readonly returnUndelivered = (owner: string, inHand: readonly string[]) => departures.returnUndelivered(this.db, owner, inHand);
  readonly returnAnswered = (owner: string, jobId: string, line: number) => departures.returnAnswered(this.db, owner, jobId, line);
}

type Tail<F extends (db: Database, ...rest: never[]) => unknown> = F extends (db: Database, ...rest: infer R) => unknown ? R : never;
