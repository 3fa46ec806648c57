import { isRefusal, type Refusal } from "../../kernel/errors.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { type Answer, jsonAnswer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Exchange, Surface } from "../../road/surface.ts";
import { InboundView } from "../../road/view.ts";
import { callerOf } from "../../services/files/caller.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import type { CallerVideo, VideoService } from "../../services/videos/video-service.ts";
import { videoTexts } from "../../wire/videos/video-texts.ts";
import type { VideosRequest } from "../../wire/videos/videos-request.ts";
import { llmRefusals } from "../llm/refusals.ts";
import { readVideo, type VideoReading } from "./read-video.ts";

export interface VideoServices extends VideoReading {
  readonly models: Dispatch;
  readonly videos: VideoService;
}

const OUTPUT = { texts: videoTexts, framing: "events" } as const;

export const videoIdIn = (call: Call): string => /\/(?:jobs|videos)\/([A-Za-z0-9_]{1,100})(?:\/|$)/.exec(call.path)?.[1] ?? "";

/** Records on the row which job the call was about. */
export function noteVideo(call: Call, { id, status, source_job_id }: CallerVideo): void {
  const video = { job_id: id, status, ...(source_job_id !== null && { source_job_id }) };
  call.row.custom_metadata = { ...(call.row.custom_metadata as object | null | undefined), video };
}

/** A job in the gateway's own format. */
export function recordOfVideo(job: CallerVideo): object {
  const { id, status, output_file_id, cost_micro_usd: micros, model_id, created_at, updated_at, error } = job;
  const { model, progress, resolution, seconds, chat_id, source_job_id } = job;
  return {
    ...{ job_id: id, status, output_file_id, cost_usd: micros === null ? null : usdFromMicros(micros), gw_model_id: model_id },
    ...{ created_at, updated_at, error, model, progress, resolution, duration_seconds: seconds, chat_id, source_job_id },
  };
}

/** A surface that submits a job. `shown`: the job in the caller's protocol; `readRequest`: reads the request. */
export function submitting(
  services: VideoServices,
  shown: (job: CallerVideo) => object,
  readRequest = (call: Call): Promise<VideosRequest | Refusal> => readVideo(call, services),
): Surface {
  const { models, videos } = services;
  return {
    ...llmRefusals,
    async read(call): Promise<Exchange | Refusal> {
      const inbound = await readRequest(call);
      if (isRefusal(inbound)) return inbound;
      return {
        view: new InboundView(inbound, ["video"]),
        output: OUTPUT,
        async answer(): Promise<Answer | Refusal> {
          const job = await videos.submit(call, callerOf(call).owner, inbound, (onItsWay) => models.video(call, inbound, onItsWay));
          if (isRefusal(job) || "kind" in job) return job;
          noteVideo(call, job);
          return jsonAnswer(shown(job));
        },
      };
    },
  };
}

/** A query about a job; guardrails on video results apply to its answer. */
export const aboutVideo = (answer: (call: Call) => Promise<Answer | Refusal>): Surface => ({
  ...llmRefusals,
  read: () => ({ view: EMPTY_VIEW, output: OUTPUT, answer }),
});

/** POST /v1/proxy/llm/video/generations (interface 4.2). */
export const videoGenerations = (services: VideoServices): Surface => submitting(services, recordOfVideo);

/** GET /v1/proxy/llm/video/jobs/{job_id} */
export const videoDetail = ({ videos }: VideoServices): Surface =>
  aboutVideo(async (call) => {
    const job = await videos.find(callerOf(call).owner, videoIdIn(call));
    if (isRefusal(job)) return job;
    noteVideo(call, job);
    return jsonAnswer(recordOfVideo(job));
  });

/** DELETE /v1/proxy/llm/video/jobs/{job_id} */
export const videoCancel = ({ videos }: VideoServices): Surface =>
  aboutVideo(async (call) => {
    const job = await videos.cancel(call, callerOf(call).owner, videoIdIn(call));
    if (isRefusal(job)) return job;
    noteVideo(call, job);
    return jsonAnswer(recordOfVideo(job));
  });
