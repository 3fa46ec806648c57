import { headersToRepeat } from "../../road/own-calls/repeated-headers.ts";
import type { KnownModels } from "../../directory/models/known-models.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import type { VideoJob, VideoOwner, VideoStore } from "../../directory/videos/video-store.ts";
import { isRefusal, reasonOf, type Refusal, refuse } from "../../kernel/errors.ts";
import type { Answer, WholeAnswer } from "../../road/answer.ts";
import { arrivalOf, type Call } from "../../road/call.ts";
import type { VideosRequest } from "../../wire/videos/videos-request.ts";
import type { VideoJobState } from "../../wire/videos/video-codec.ts";
import { replyObject } from "../../wire/openai/reply-object.ts";
import { billedVideoSeconds, billedVideoTokens } from "../../road/metering/video-billing.ts";
import { askWhole, type ProvidersOfVideos, providerOfJob, readJob } from "./read-provider-job.ts";
import { costOfJob, jobPrices, mostOfJob, secondsOfVideo } from "./video-cost.ts";
import type { VideoRunner } from "./video-runner.ts";

/** The store's type under the name that surfaces use. */
export type CallerVideo = VideoJob;

/** A job that produced a video. */
export interface SucceededVideo {
  readonly job: VideoJob;
  readonly upstreamId: string;
  readonly fileId: string;
  /** Total length of the video; null if unknown. */
  readonly seconds: number | null;
}

/** Most jobs of a tenant that have not ended. */
const MAX_OPEN = 1_000;
/** A job that runs longer than this at its provider is expired. */
const MAX_JOB_MS = 24 * 3_600_000;
const FIRST_POLL_MS = 1_000;
/** How long a call may take to submit a job before the job is considered lost. */
const SUBMITTED_WITHIN_MS = 15 * 60_000;
const WRITE_TIMEOUT_MS = 60_000;
const WRITE_RETRY_MS = 500;

/** Callbacks while a job is submitted. `leaving`: before a provider is called. `unsure`: whether it accepted is unknown. */
export interface VideoOnItsWay {
  leaving(model: ModelEntry, usualSeconds: number | null): Promise<Refusal | null>;
  unsure(): void;
}

interface VideoServiceParts {
  readonly store: VideoStore;
  readonly runner: VideoRunner;
  readonly providers: ProvidersOfVideos;
  readonly models: Pick<KnownModels, "find">;
  /** Writes the begin marker of a call that leaves for an upstream. */
  readonly begin: (call: Call) => void;
  readonly now: () => number;
}

/** Video jobs as seen by their callers. */
export class VideoService {
  readonly store: VideoStore;
  private readonly parts: VideoServiceParts;

  constructor(parts: VideoServiceParts) {
    this.parts = parts;
    this.store = parts.store;
  }

  /**
   * Submits a job with `video`, which tries one provider after another, and stores it. The record exists before a provider is called, and is
   * deleted if none accepted the job. If that is unknown, the job is stored as failed and never submitted again.
   */
  async submit(
    call: Call,
    owner: VideoOwner,
    request: VideosRequest,
    video: (onItsWay: VideoOnItsWay) => Promise<Answer | Refusal>,
  ): Promise<VideoJob | Refusal | WholeAnswer> {
    const { store, runner } = this.parts;
    if ((await store.countOpen(owner.tenantId)) >= MAX_OPEN)
      return refuse("too_many_videos", undefined, { headers: { "retry-after": "60" } });
    const id = `video_${call.id}`;
    let written = false;
    let unsure = false;
    const onItsWay: VideoOnItsWay = {
      leaving: async (model, usualSeconds) => {
        try {
          await runner.stayAlive();
          if (written) await store.drop(runner.id, id);
          await store.create(this.record(call, owner, id, request, model, usualSeconds));
          written = true;
          return null;
        } catch (error) {
          return refuse("directory_unavailable", undefined, { reason: reasonOf(error), headers: { "retry-after": "1" } });
        }
      },
      unsure: () => {
        unsure = true;
      },
    };
    runner.submitting.add(id);
    try {
      const answer = await video(onItsWay);
      if (isRefusal(answer) || answer.kind !== "whole" || answer.failure !== null) {
        if (written) await (unsure ? this.lost(id) : store.drop(runner.id, id)).catch(() => undefined);
        return isRefusal(answer) || answer.kind === "whole" ? answer : refuse("upstream_invalid_response");
      }
      return await this.begun(call, owner, id, String(replyObject(answer.body)?.id ?? ""));
    } finally {
      runner.submitting.delete(id);
    }
  }

  private async lost(id: string): Promise<void> {
    const { store, runner } = this.parts;
    const error = { code: "submit_unknown", message: "Nobody heard whether the provider took the job on: it is not asked again." };
    await store.end(runner.id, id, { status: "failed", error, outputFileId: null, costMicros: null, usage: null });
  }

  /** A provider accepted the job: retries until its upstream ID is stored, because without it nobody finds the job again. */
  private async begun(call: Call, owner: VideoOwner, id: string, upstreamId: string): Promise<VideoJob | Refusal> {
    const { store, runner, now } = this.parts;
    for (const until = now() + WRITE_TIMEOUT_MS; ;) {
      try {
        await store.noteAccepted(runner.id, id, upstreamId, FIRST_POLL_MS);
        break;
      } catch (error) {
        if (now() > until) return refuse("directory_unavailable", undefined, { reason: reasonOf(error) });
        await new Promise((resolve) => setTimeout(resolve, WRITE_RETRY_MS));
      }
    }
    const job = await this.find(owner, id);
    if (!isRefusal(job)) await runner.hold(job, call);
    return job;
  }

  async find(owner: VideoOwner, id: string): Promise<VideoJob | Refusal> {
    return (await this.store.find(owner, id)) ?? refuse("video_not_found");
  }

  /** A caller's job whose video exists, as the source of another. */
  async succeeded(owner: VideoOwner, id: string): Promise<SucceededVideo | Refusal> {
    const job = await this.find(owner, id);
    if (isRefusal(job)) return job;
    const { upstream_id: upstreamId, output_file_id: fileId } = job;
    if (job.status !== "succeeded" || upstreamId === null || fileId === null) return refuse("video_not_ready");
    return { job, upstreamId, fileId, seconds: secondsOfVideo(job) };
  }

  /** Cancels a job at its provider; 409 if that is not possible. A repeated cancellation gets the same answer. */
  async cancel(call: Call, owner: VideoOwner, id: string): Promise<VideoJob | Refusal> {
    const { store, begin, runner } = this.parts;
    const job = await this.find(owner, id);
    if (isRefusal(job) || job.status === "cancelled") return job;
    if (job.ended_at !== null) return refuse("video_ended");
    const { upstream_id: upstreamId } = job;
    const provider = upstreamId === null ? null : await providerOfJob(this.parts, job);
    const question = upstreamId === null ? null : (provider?.codec.cancel(upstreamId) ?? null);
    if (upstreamId === null || provider === null || question === null) return refuse("video_not_cancellable");
    call.row.target_url = provider.address;
    call.row.llm_provider = job.provider_key;
    try {
      begin(call);
    } catch (error) {
      return refuse("audit_unavailable", undefined, { reason: reasonOf(error) });
    }
    // Some providers' cancel request deletes and bills a finished video, so a cancellation that comes too late is refused first.
    const reading = await readJob(provider, upstreamId);
    if (reading.kind !== "look") return refuse("video_not_cancellable", undefined, { reason: reading.why });
    if (!isUnderWay(reading.look)) return refuse("video_ended");
    const answered = await askWhole(provider.ask, question);
    if (isRefusal(answered)) return answered;
    const { status, json } = answered;
    if (status < 200 || status >= 300) return refuse("video_not_cancellable", undefined, { reason: `the provider answered ${status}` });
    const look = provider.codec.read(json, upstreamId);
    if (look?.state === "completed") return refuse("video_ended");
    const usage = look?.usage ?? null;
    const used = { costMicros: costOfJob(job, usage), usage: usage === null ? null : JSON.stringify(usage) };
    const cancelled = await store.cancel(owner, id, used);
    runner.wake();
    return cancelled ?? refuse("video_ended");
  }

  private record(
    call: Call,
    owner: VideoOwner,
    id: string,
    request: VideosRequest,
    model: ModelEntry,
    usualSeconds: number | null,
  ): Parameters<VideoStore["create"]>[0] {
    const { runner } = this.parts;
    const at = arrivalOf(call);
    const prices = jobPrices(model, at);
    const now = this.parts.now();
    return {
      id,
      tenant_id: owner.tenantId,
      resource_group_id: owner.groupId,
      end_user_id: owner.userId,
      api_key_id: call.row.api_key_id ?? null,
      status: "queued",
      model_id: model.id,
      model: model.name,
      provider_key: model.provider.providerKey,
      resolution: request.resolution,
      // Never zero, because it is billed if the provider reports no length.
      seconds: request.seconds ?? usualSeconds ?? billedVideoSeconds(model, request.video),
      chat_id: request.chatId,
      source_job_id: request.source?.jobId ?? null,
      source_seconds: request.source?.as === "extension" ? (request.source.seconds ?? 0) : null,
      display_name: request.displayName,
      prices: JSON.stringify(prices),
      held_micro_usd: mostOfJob(model, prices, request.video),
      held_tokens: billedVideoTokens(model, request.video),
      owner: runner.id,
      look_at: new Date(now + SUBMITTED_WITHIN_MS),
      request_id: call.id,
      root_task_id: call.row.root_task_id ?? null,
      ...headersToRepeat(call),
      client_ip: call.ip,
      created_at: new Date(at),
      updated_at: new Date(now),
      expires_at: new Date(now + MAX_JOB_MS),
    };
  }
}

const isUnderWay = ({ state }: VideoJobState): boolean => state === "queued" || state === "in_progress";
