import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { jsonAnswer } from "../../road/answer.ts";
import type { Surface } from "../../road/surface.ts";
import { callerOf, noteFile } from "../../services/files/caller.ts";
import { secondsOfVideo } from "../../services/videos/video-cost.ts";
import type { CallerVideo } from "../../services/videos/video-service.ts";
import { videoFrameOf } from "../../wire/videos/resolution.ts";
import { contentAnswer } from "../files/content.ts";
import { fileSurface, queryOf, wholeNumber } from "../files/files.ts";
import { aboutVideo, noteVideo, submitting, videoIdIn, type VideoServices } from "./videos.ts";

/** OpenAI's paths for videos, over the same jobs. */

const MAX_LISTED = 100;
const USUAL = 20;

const seconds = (time: Date | null): number | null => (time === null ? null : Math.floor(time.getTime() / 1000));

/** A job in OpenAI's form, which has only these two final states. */
export function openaiVideoObject(job: CallerVideo): object {
  const { id, status, model, progress, created_at, ended_at, resolution, source_job_id, error } = job;
  const long = job.source_seconds === null ? job.seconds : secondsOfVideo(job);
  const frame = resolution === null ? null : videoFrameOf(resolution, null);
  const failed = status === "failed" || status === "cancelled" || status === "expired";
  return {
    ...{ id, object: "video", model, progress, prompt: null, remixed_from_video_id: source_job_id },
    status: status === "succeeded" ? "completed" : failed ? "failed" : status,
    ...{ created_at: seconds(created_at), completed_at: status === "succeeded" ? seconds(ended_at) : null, expires_at: null },
    seconds: long === null ? null : String(long),
    size: frame === null ? resolution : `${frame.width}x${frame.height}`,
    error: failed ? (error ?? { code: `video_${status}`, message: "The job was cancelled." }) : null,
  };
}

/** POST /v1/proxy/llm/videos */
export const openaiVideoCreate = (services: VideoServices): Surface => submitting(services, openaiVideoObject);

/** GET /v1/proxy/llm/videos */
export const openaiVideoList = ({ videos }: VideoServices): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["after", "limit", "order"]);
    if (isRefusal(query)) return query;
    const limit = wholeNumber(query, "limit", USUAL, 1, MAX_LISTED);
    if (typeof limit !== "number") return limit;
    const order = query.get("order") ?? "desc";
    if (order !== "asc" && order !== "desc")
      return refuse("invalid_query", undefined, { fields: [{ field: "order", message: "must be asc or desc" }] });
    const page = { limit: limit + 1, offset: 0, after: query.get("after"), oldestFirst: order === "asc" };
    const { items } = await videos.store.list(callerOf(call).owner, page);
    const shown = items.slice(0, limit);
    return jsonAnswer({
      object: "list",
      data: shown.map(openaiVideoObject),
      first_id: shown[0]?.id ?? null,
      last_id: shown.at(-1)?.id ?? null,
      has_more: items.length > limit,
    });
  });

/** GET /v1/proxy/llm/videos/{video_id} */
export const openaiVideoDetail = ({ videos }: VideoServices): Surface =>
  aboutVideo(async (call) => {
    const job = await videos.find(callerOf(call).owner, videoIdIn(call));
    if (isRefusal(job)) return job;
    noteVideo(call, job);
    return jsonAnswer(openaiVideoObject(job));
  });

/** GET /v1/proxy/llm/videos/{video_id}/content */
export const openaiVideoContent = ({ videos, files }: VideoServices): Surface =>
  fileSurface(async (call) => {
    const query = queryOf(call, ["variant"]);
    if (isRefusal(query)) return query;
    if ((query.get("variant") ?? "video") !== "video")
      return refuse("invalid_query", undefined, { fields: [{ field: "variant", message: "must be video: nothing else is kept" }] });
    const { owner } = callerOf(call);
    const job = await videos.find(owner, videoIdIn(call));
    if (isRefusal(job)) return job;
    noteVideo(call, job);
    if (job.output_file_id === null) return refuse("video_not_ready");
    const file = await files.find(owner, job.output_file_id);
    if (isRefusal(file)) return file;
    noteFile(call, file);
    return contentAnswer(call, files, file);
  });

/** DELETE /v1/proxy/llm/videos/{video_id}: cancels a job in progress first. */
export const openaiVideoDelete = ({ videos, files }: VideoServices): Surface =>
  fileSurface(async (call) => {
    const { owner } = callerOf(call);
    const job = await videos.find(owner, videoIdIn(call));
    if (isRefusal(job)) return job;
    noteVideo(call, job);
    const cancelled: CallerVideo | Refusal = job.ended_at === null ? await videos.cancel(call, owner, job.id) : job;
    if (isRefusal(cancelled)) return cancelled;
    if (job.output_file_id !== null) await files.delete(owner, { id: job.output_file_id });
    await videos.store.hide(owner, job.id);
    return jsonAnswer({ id: job.id, object: "video.deleted", deleted: true });
  });
