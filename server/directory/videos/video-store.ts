import type { Database, Trx } from "../../store/database.ts";
import type { FileOwner } from "../../store/files/files.ts";
import type { TenantTurns } from "../../kernel/scheduling/tenant-work.ts";
import * as jobs from "../../store/batch/video-jobs.ts";

export type VideoJob = jobs.VideoJobRow;
export type NewVideoJob = Parameters<typeof jobs.createVideoJob>[1];
export type { FileOwner as VideoOwner };
export type EndOfVideo = jobs.VideoEnd;

/** Stores video jobs. */
export class VideoStore {
  private readonly db: Database;

  constructor(db: Database) {
    this.db = db;
  }

  readonly create = (job: NewVideoJob) => jobs.createVideoJob(this.db, job);
  readonly find = (owner: FileOwner, id: string) => jobs.findVideoJob(this.db, owner, id);
  readonly list = (...by: [FileOwner, Parameters<typeof jobs.listVideoJobs>[2]]) => jobs.listVideoJobs(this.db, ...by);
  readonly countOpen = (tenantId: string) => jobs.countOpenVideoJobs(this.db, tenantId);
  readonly hide = (owner: FileOwner, id: string) => jobs.hideVideoJob(this.db, owner, id);
  readonly drop = (runner: string, id: string) => jobs.dropVideoJob(this.db, runner, id);
  readonly noteAccepted = (...by: [runner: string, id: string, upstreamId: string, afterMs: number]) =>
    jobs.noteVideoAccepted(this.db, ...by);
  readonly note = (runner: string, id: string, found: Parameters<typeof jobs.noteVideoPoll>[3]) =>
    jobs.noteVideoPoll(this.db, runner, id, found);
  readonly end = (runner: string, id: string, end: EndOfVideo) => jobs.endVideoJob(this.db, runner, id, end);
  /** For the transaction that stores the video, so that the job ends exactly if its file is stored. */
  readonly succeed = (runner: string, id: string, end: Omit<EndOfVideo, "outputFileId">) => (trx: Trx, fileId: string) =>
    jobs.endVideoJob(trx, runner, id, { ...end, outputFileId: fileId });
  readonly cancel = (owner: FileOwner, id: string, used: Parameters<typeof jobs.cancelVideoJob>[3]) =>
    jobs.cancelVideoJob(this.db, owner, id, used);
  readonly adopt = (runner: string, chain: string, most: number) => jobs.adoptVideoJobs(this.db, runner, chain, most);
  readonly own = (runner: string) => jobs.ownVideoJobs(this.db, runner);
  readonly due = (...by: [runner: string, turns: TenantTurns, but: readonly string[]]) => jobs.dueVideoJobs(this.db, ...by);
  readonly leave = (runner: string) => jobs.leaveVideoJobs(this.db, runner);
  readonly keepAlive = (runner: string, chain: string, seconds: number) => jobs.keepVideoRunnerAlive(this.db, runner, chain, seconds);
  readonly claimSettlement = (...by: [runner: string, id: string, rowId: string]) => jobs.claimVideoSettlement(this.db, ...by);
  readonly noteSettled = (runner: string, id: string) => jobs.noteVideoSettled(this.db, runner, id);
  readonly forgetSettlement = (runner: string, id: string) => jobs.forgetVideoSettlement(this.db, runner, id);
  readonly settlementOutcome = (tenantId: string, rowId: string) => jobs.settlementOutcome(this.db, tenantId, rowId);
  readonly sweep = () => jobs.sweepVideoJobs(this.db);
}
