import type { Files } from "../../directory/files/stored-files.ts";
import type { KnownModels } from "../../directory/models/known-models.ts";
import type { GroupScope, TenantSnapshot } from "../../directory/snapshot.ts";
import type { EndOfVideo, VideoJob, VideoStore } from "../../directory/videos/video-store.ts";
import { isRefusal } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import type { Log } from "../../kernel/log.ts";
import type { JobBudgets } from "../../road/call-limits.ts";
import type { BackgroundCalls } from "../../road/own-calls/background-calls.ts";
import { inputTokens, type Usage } from "../../wire/usage.ts";
import type { VideoJobState } from "../../wire/videos/video-codec.ts";
import { type JobProvider, type ProvidersOfVideos, providerOfJob, askWhole, readJob, videoBytes } from "./read-provider-job.ts";
import { settleJob } from "./settle-job.ts";
import { costOfJob, usageOfVideo } from "./video-cost.ts";

/** Most jobs handled at once by this process, most of one tenant among them, and most adopted from dead processes per query. */
const AT_ONCE = 24;
const OF_ONE_TENANT = 12;
const ADOPTED_AT_ONCE = 200;
const IDLE_MS = 1_000;
/** A process whose last heartbeat is older than this is considered dead. */
const ALIVE_SECONDS = 10;
const RENEWAL_INTERVAL_MS = 2_000;
/** Wait between two polls of a job; grows with each poll. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 20_000;
const MAX_AFTER_FAILURE_MS = 60_000;
/** Polls in a row that find no such job, or no model, before the job is given up. */
const LOST_AFTER_POLLS = 5;
/** Attempts to download a video before it is given up. */
const FETCHED_AT_MOST = 40;

export interface VideoRunnerParts {
  readonly store: VideoStore;
  readonly files: Pick<Files, "receive" | "record">;
  readonly calls: Pick<BackgroundCalls, "recordEvent">;
  /** Whether this process can write audit rows. While it cannot, other processes take over its jobs. */
  readonly recording: () => boolean;
  readonly budgets: JobBudgets;
  readonly providers: ProvidersOfVideos;
  readonly models: Pick<KnownModels, "find">;
  readonly tenant: (id: string) => TenantSnapshot | null | Promise<TenantSnapshot | null>;
  readonly scope: (tenantId: string, groupId: string) => GroupScope | null | Promise<GroupScope | null>;
  /** The audit chain of this process. No other live process has it; after a crash the restarted process has it again. */
  readonly chain: string;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Advances video jobs in this process beside other processes. Each job belongs to one process, and to another once that one is dead;
 * results are written only while the job is still owned.
 */
export class VideoRunner {
  readonly id = uuid();
  /** Jobs that calls of this process are submitting to a provider. */
  readonly submitting = new Set<string>();
  private readonly parts: VideoRunnerParts;
  private readonly underWay = new Map<string, { readonly tenantId: string; readonly run: Promise<void> }>();
  /** Budget hold IDs by job ID, for jobs that this process owns or owned. */
  private readonly held = new Map<string, string>();
  /** Jobs whose hold failed and is retried. */
  private readonly unheld = new Map<string, VideoJob>();
  private renewedAt = Number.NEGATIVE_INFINITY;
  private checkedAt = Number.NEGATIVE_INFINITY;
  private polling = false;
  private stopped = false;

  constructor(parts: VideoRunnerParts) {
    this.parts = parts;
  }

  /** Restores the holds of jobs this process owned when it crashed. Must run before it serves calls, which would find that budget free. */
  async takeOver(): Promise<void> {
    while (!this.stopped && (await this.adopt()) === ADOPTED_AT_ONCE);
  }

  /** Looks for work; called at an interval. */
  async poll(): Promise<void> {
    if (this.stopped || this.polling) return;
    // Without jobs of its own, it only looks for jobs of dead processes, and less often.
    if (this.held.size === 0 && performance.now() - this.checkedAt < IDLE_MS) return;
    this.checkedAt = performance.now();
    this.polling = true;
    const { store } = this.parts;
    try {
      const isRecording = this.parts.recording();
      // Another process would end a job that a provider is about to accept here.
      if (this.submitting.size > 0 || (isRecording && this.held.size > 0)) await this.stayAlive();
      if (!isRecording) return await this.release();
      await this.adopt();
      await this.release();
      for (const job of [...this.unheld.values()]) await this.hold(job);
      const room = AT_ONCE - this.underWay.size;
      if (room <= 0) return;
      const turns = { most: room, mostOfOne: OF_ONE_TENANT, underWay: this.tenantsUnderWay() };
      for (const job of await store.due(this.id, turns, [...this.underWay.keys(), ...this.submitting])) this.begin(job);
    } finally {
      this.polling = false;
    }
  }

  private async adopt(): Promise<number> {
    const { store, chain } = this.parts;
    const adopted = await store.adopt(this.id, chain, ADOPTED_AT_ONCE);
    if (adopted.length > 0) await this.stayAlive();
    for (const job of adopted) await this.hold(job);
    return adopted.length;
  }

  /** Releases holds for jobs that another process adopted while this one was considered dead; that process holds them. */
  private async release(): Promise<void> {
    const left = [...this.held].filter(([id]) => !this.submitting.has(id) && !this.underWay.has(id));
    if (left.length === 0) return;
    const own = await this.parts.store.own(this.id);
    for (const [id, hold] of left) if (!own.has(id)) await this.giveUp(id, hold, 0);
  }

  private async giveUp(id: string, hold: string, micros: number, usage: Usage | null = null): Promise<void> {
    this.held.delete(id);
    this.unheld.delete(id);
    await this.parts.budgets
      .settle(hold, micros, usage === null ? undefined : { input: inputTokens(usage), output: usage.output })
      .catch((error: Error) => this.parts.log.warn("video_budget_not_settled", { job_id: id, error }));
  }

  wake(): void {
    void this.poll().catch((error: Error) => this.parts.log.warn("worker_failed", { worker: "run_videos", error }));
  }

  /** Renews this process's heartbeat, at most every `RENEWAL_INTERVAL_MS`. */
  async stayAlive(): Promise<void> {
    const now = performance.now();
    if (now - this.renewedAt < RENEWAL_INTERVAL_MS) return;
    await this.parts.store.keepAlive(this.id, this.parts.chain, ALIVE_SECONDS);
    this.renewedAt = now;
  }

  /** Holds what a job may cost, replacing what the call `from` holds for it. */
  async hold(job: VideoJob, from: Parameters<JobBudgets["hold"]>[2] = null): Promise<void> {
    // A job that another process had adopted may return before this process noticed its loss.
    if (this.held.has(job.id) && !this.unheld.has(job.id)) return;
    const hold = holdOf(job, this.id);
    this.held.set(job.id, hold);
    this.unheld.delete(job.id);
    if (job.ended_at !== null) return;
    const { scope: scopeOf, models, budgets, log } = this.parts;
    try {
      const scope = await scopeOf(job.tenant_id, job.resource_group_id);
      const model = await models.find(job.tenant_id, job.model_id);
      if (scope === null || model === null) return;
      const { held_micro_usd: micros, held_tokens: tokens, root_task_id: rootTaskId, created_at: at } = job;
      await budgets.hold(hold, { scope, model, rootTaskId, micros, tokens, at: at.getTime() }, from);
    } catch (error) {
      this.unheld.set(job.id, job);
      log.warn("video_budget_not_held", { job_id: job.id, error: error as Error });
    }
  }

  /** Starts nothing more. Waits up to 5 s for jobs under way, then leaves the rest to other processes. */
  async stop(): Promise<void> {
    this.stopped = true;
    await Promise.race([
      Promise.all([...this.underWay.values()].map(({ run }) => run)),
      new Promise((resolve) => setTimeout(resolve, 5_000)),
    ]);
    await this.parts.store.leave(this.id).catch(() => undefined);
  }

  private begin(job: VideoJob): void {
    const run = this.step(job).catch(async (error: Error) => {
      this.parts.log.warn("video_job_failed", { job_id: job.id, error });
      await this.later(job).catch(() => undefined);
    });
    this.underWay.set(job.id, { tenantId: job.tenant_id, run: run.finally(() => this.underWay.delete(job.id)) });
  }

  private tenantsUnderWay(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { tenantId } of this.underWay.values()) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    return counts;
  }

  private async step(job: VideoJob): Promise<void> {
    if (job.ended_at !== null) return this.settle(job);
    if (job.upstream_id === null) {
      const error = { code: "submit_unknown", message: "Nobody heard whether the provider took the job on: it is not asked again." };
      return this.end(job, { status: "failed", error, outputFileId: null, costMicros: null, usage: null });
    }
    const provider = await providerOfJob(this.parts, job);
    if (provider === null) {
      if (job.failures + 1 < LOST_AFTER_POLLS) return this.later(job);
      const error = { code: "model_not_found", message: "The model was deleted, and nobody can ask its provider for the video any more." };
      return this.end(job, { status: "failed", error, outputFileId: null, costMicros: null, usage: null });
    }
    const over = job.expires_at.getTime() <= this.parts.now();
    const reading = await readJob(provider, job.upstream_id);
    if (reading.kind === "look") return this.follow(job, provider, reading.look, over);
    if (reading.kind === "gone" && job.failures + 1 >= LOST_AFTER_POLLS) {
      const error = { code: "upstream_job_lost", message: "The provider knows the job no more." };
      return this.end(job, { status: "failed", error, outputFileId: null, costMicros: null, usage: null });
    }
    return over ? this.expire(job, provider) : this.later(job);
  }

  private async follow(job: VideoJob, provider: JobProvider, reading: VideoJobState, over: boolean): Promise<void> {
    const { state, progress } = reading;
    if (state === "completed") return this.fetch(job, provider, reading);
    if (state === "failed" || state === "cancelled") return this.end(job, this.endOf(job, state, reading.error, reading.usage));
    if (over) return this.expire(job, provider);
    await this.parts.store.note(this.id, job.id, {
      status: state,
      ...(progress !== null && { progress }),
      failures: 0,
      afterMs: this.spread(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 1.25 ** Math.min(job.looks, 30))),
    });
  }

  /** Stores the video, in the transaction that ends the job. If the job cannot be ended, the file is discarded. */
  private async fetch(job: VideoJob, provider: JobProvider, reading: VideoJobState): Promise<void> {
    const { files, store, tenant: tenantOf } = this.parts;
    const tenant = await tenantOf(job.tenant_id);
    if (tenant === null || reading.output === null) return this.later(job);
    const used = usageOfVideo(job, reading);
    const received = await files.receive(job.tenant_id, videoBytes(provider, reading.output), () => "video");
    if (isRefusal(received)) {
      // Blocked by the tenant's own uploads, which may take a while. The video is paid for, so this counts as no failure.
      if (received.code === "too_many_uploads") return this.keep(job);
      if (received.code !== "file_too_large" && job.failures + 1 < FETCHED_AT_MOST) return this.later(job);
      const error = { code: received.code, message: received.message };
      return this.end(job, this.endOf(job, "failed", error, used));
    }
    const end = { status: "succeeded", error: null, costMicros: costOfJob(job, used), usage: JSON.stringify(used) } as const;
    const owner = { tenantId: job.tenant_id, groupId: job.resource_group_id, userId: job.end_user_id };
    const facts = { kind: "video", chatId: job.chat_id, displayName: job.display_name, modelId: job.model_id } as const;
    const file = await files.record(owner, tenant, received, facts, store.succeed(this.id, job.id, end));
    if (!isRefusal(file)) return this.settle({ ...job, ...ended(end, file.id), ended_at: new Date(this.parts.now()) });
    // Another process was faster, or the job was deleted with its owner.
    if (file.code === "file_not_found") return;
    const wrong = file.code === "invalid_body";
    if (!wrong && file.code !== "file_storage_full" && job.failures + 1 < FETCHED_AT_MOST) return this.later(job);
    const error = wrong
      ? { code: "upstream_invalid_response", message: "What the provider gave is no video." }
      : { code: file.code, message: file.message };
    return this.end(job, this.endOf(job, "failed", error, used));
  }

  private endOf(job: VideoJob, status: "failed" | "cancelled", error: EndOfVideo["error"], usage: Usage | null): EndOfVideo {
    return {
      ...{ status, error, outputFileId: null, costMicros: costOfJob(job, usage) },
      usage: usage === null ? null : JSON.stringify(usage),
    };
  }

  private async expire(job: VideoJob, provider: JobProvider): Promise<void> {
    const cancel = job.upstream_id === null ? null : provider.codec.cancel(job.upstream_id);
    if (cancel !== null) await askWhole(provider.ask, cancel);
    const error = { code: "video_expired", message: "The provider did not come to an end in time." };
    await this.end(job, { status: "expired", error, outputFileId: null, costMicros: null, usage: null });
  }

  private async end(job: VideoJob, end: EndOfVideo): Promise<void> {
    if (!(await this.parts.store.end(this.id, job.id, end))) return;
    await this.settle({ ...job, ...ended(end, end.outputFileId), ended_at: new Date(this.parts.now()) });
  }

  private async settle(job: VideoJob): Promise<void> {
    const settled = await settleJob(this.parts, this.id, job);
    if (settled) await this.giveUp(job.id, holdOf(job, this.id), job.cost_micro_usd ?? 0, job.usage as Usage | null);
  }

  /** Polls again later, with exponential backoff. */
  private async later(job: VideoJob): Promise<void> {
    const failures = job.failures + 1;
    const afterMs = this.spread(Math.min(MAX_AFTER_FAILURE_MS, 500 * 2 ** Math.min(failures, 8)));
    await this.parts.store.note(this.id, job.id, { failures, afterMs });
  }

  /** Polls again later without counting a failure. */
  private async keep({ id, failures }: VideoJob): Promise<void> {
    await this.parts.store.note(this.id, id, { failures, afterMs: this.spread(MAX_WAIT_MS) });
  }

  private spread(ms: number): number {
    return Math.round(ms * (0.8 + 0.4 * this.parts.random()));
  }
}

/** The hold's ID for budgets. It differs from the call's ID: on recovery, the call's own row says that the call used nothing. */
function holdOf({ request_id: requestId }: VideoJob, runner: string): string {
  return `${requestId}/video/${runner}`;
}

function ended(end: Omit<EndOfVideo, "outputFileId">, fileId: string | null) {
  return {
    ...{ status: end.status, error: end.error, output_file_id: fileId, cost_micro_usd: end.costMicros },
    usage: end.usage === null ? null : (JSON.parse(end.usage) as object),
  };
}
