import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import { openaiVideoEdit, openaiVideoExtension, openaiVideoRemix } from "./derived-videos.ts";
import { openaiVideoContent, openaiVideoCreate, openaiVideoDelete, openaiVideoDetail, openaiVideoList } from "./openai-videos.ts";
import { videoCancel, videoDetail, videoGenerations, type VideoServices } from "./videos.ts";

interface VideoRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly surface: (services: VideoServices) => Surface;
}

const route = (
  method: VideoRoute["method"],
  path: string,
  proxySubtype: string,
  surface: VideoRoute["surface"],
  body: GovernedRoute["body"] = false,
): VideoRoute => ({ method, path: `/v1/proxy/llm${path}`, surface, audit: { proxyType: "llm", proxySubtype }, body });

/** All routes of videos. */
export const VIDEO_SURFACES: readonly VideoRoute[] = [
  route("POST", "/video/generations", "video_generations", videoGenerations, "streamed"),
  route("GET", "/video/jobs/:job_id", "video_job", videoDetail),
  route("DELETE", "/video/jobs/:job_id", "video_cancel", videoCancel),
  route("POST", "/videos", "video_generations", openaiVideoCreate, "streamed"),
  route("POST", "/videos/edits", "video_generations", openaiVideoEdit, "streamed"),
  route("POST", "/videos/extensions", "video_generations", openaiVideoExtension, "streamed"),
  route("POST", "/videos/:job_id/remix", "video_generations", openaiVideoRemix, "streamed"),
  route("GET", "/videos", "video_list", openaiVideoList),
  route("GET", "/videos/:job_id", "video_job", openaiVideoDetail),
  route("GET", "/videos/:job_id/content", "video_content", openaiVideoContent),
  route("DELETE", "/videos/:job_id", "video_delete", openaiVideoDelete),
];
