import type { Database } from "../../store/database.ts";
import * as jobs from "../../store/batch-jobs.ts";
import * as lines from "../../store/batch-lines.ts";
import type { FileOwner } from "../../store/files.ts";
import type { BatchProblem, BatchStatus } from "../../store/tables/batch.ts";

export type BatchJob = jobs.BatchJobWithCost;
export type NewBatchJob = Parameters<typeof jobs.createBatchJob>[1];
export type BatchLine = Awaited<ReturnType<typeof lines.linesAfter>>[number];
export type LineToRun = lines.TakenLine;
export type LineResult = lines.LineOutcome;
export type JobToRun = jobs.ActiveJob;
export type { BatchProblem, BatchStatus, FileOwner as JobOwner };

/** Where batch jobs and their lines are kept. */
export class BatchStore {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  readonly create = (job: NewBatchJob) => jobs.createBatchJob(this.db, job);
  readonly find = (owner: FileOwner, id: string) => jobs.findBatchJob(this.db, owner, id);
  readonly read = (id: string) => jobs.readBatchJob(this.db, id);
  readonly list = (...by: [FileOwner, string | undefined, Parameters<typeof jobs.listBatchJobs>[3]]) => jobs.listBatchJobs(this.db, ...by);
  readonly countOpen = (tenantId: string) => jobs.countOpenJobs(this.db, tenantId);
  readonly remove = (tenantId: string, id: string) => jobs.deleteBatchJob(this.db, tenantId, id);
  readonly describe = (tenantId: string, id: string, facts: Parameters<typeof jobs.describeBatchJob>[3]) =>
    jobs.describeBatchJob(this.db, tenantId, id, facts);
  readonly start = (tenantId: string, id: string, total: number) => jobs.startBatchJob(this.db, tenantId, id, total);
  readonly fail = (tenantId: string, id: string, problems: readonly BatchProblem[]) => jobs.failValidation(this.db, tenantId, id, problems);
  readonly cancel = (owner: FileOwner, id: string) => jobs.cancelBatchJob(this.db, owner, id);
  readonly endAs = (...by: [string, BatchStatus, Parameters<typeof jobs.endBatchJobAs>[3]]) => jobs.endBatchJobAs(this.db, ...by);
  readonly pause = (id: string, until: Date, error: Parameters<typeof jobs.pauseBatchJob>[3]) =>
    jobs.pauseBatchJob(this.db, id, until, error);
  readonly resume = (id: string) => jobs.resumeBatchJob(this.db, id);
  readonly active = () => jobs.activeBatchJobs(this.db);
  readonly takeEnding = (owner: string, seconds: number) => jobs.takeEnding(this.db, owner, seconds);
  readonly finish = (id: string, owner: string, files: Parameters<typeof jobs.finishBatchJob>[3]) =>
    jobs.finishBatchJob(this.db, id, owner, files);
  readonly sweep = () => jobs.sweepBatchJobs(this.db);

  readonly addLines = (jobId: string, added: readonly lines.NewLine[]) => lines.addLines(this.db, jobId, added);
  readonly takeLines = (jobId: string, owner: string, most: number) => lines.takeLines(this.db, jobId, owner, most);
  readonly writeOutcomes = (owner: string, outcomes: readonly lines.LineOutcome[]) => lines.writeOutcomes(this.db, owner, outcomes);
  readonly returnLine = (owner: string, jobId: string, line: number) => lines.returnLine(this.db, owner, jobId, line);
  readonly returnUnbegun = (owner: string, begun: readonly string[]) => lines.returnUnbegun(this.db, owner, begun);
  readonly keepAlive = (runner: string, seconds: number) => lines.keepAlive(this.db, runner, seconds);
  readonly endInterrupted = (runner: string, error: { code: string; message: string }) => lines.endInterrupted(this.db, runner, error);
  readonly linesAfter = (jobId: string, after: number, most: number, finishedOnly: boolean) =>
    lines.linesAfter(this.db, jobId, after, most, finishedOnly);
  readonly bodiesAfter = (jobId: string, after: number, most: number) => lines.bodiesAfter(this.db, jobId, after, most);
  readonly page = (jobId: string, page: { limit: number; offset: number }, finishedOnly: boolean) =>
    lines.pageOfLines(this.db, jobId, page, finishedOnly);
  readonly keyHash = (tenantId: string, keyId: string) => lines.keyHashOf(this.db, tenantId, keyId);
}
