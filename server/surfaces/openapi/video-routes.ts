import { runtimeError } from "@gatehouse/contracts/portal-answers";
import * as videos from "@gatehouse/contracts/videos";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";

const LLM = "/v1/proxy/llm";

function video(summary: string, answer: DescribedAnswer | z.ZodType, more: Partial<DescribedRoute> = {}): DescribedRoute {
  return { tag: "Videos", summary, answer: "status" in answer ? answer : { status: 200, schema: answer }, error: runtimeError, ...more };
}

/** Descriptions of the video routes in the runtime plane's OpenAPI document. */
export const VIDEO_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${LLM}/video/generations`]: video("Create a video job", videos.videoJob, { body: videos.videoRequest }),
  [`GET ${LLM}/video/jobs/:job_id`]: video("Retrieve a video job", videos.videoJob),
  [`DELETE ${LLM}/video/jobs/:job_id`]: video("Cancel a video job at its provider", videos.videoJob),
  [`POST ${LLM}/videos`]: video("Create a video (OpenAI)", videos.openaiVideo, { body: videos.openaiVideoRequest, form: true }),
  [`POST ${LLM}/videos/edits`]: video("Edit a video (OpenAI)", videos.openaiVideo, { body: videos.openaiVideoEditRequest }),
  [`POST ${LLM}/videos/extensions`]: video("Extend a video (OpenAI)", videos.openaiVideo, { body: videos.openaiVideoExtensionRequest }),
  [`POST ${LLM}/videos/:job_id/remix`]: video("Remix a video (OpenAI)", videos.openaiVideo, { body: videos.openaiVideoRemixRequest }),
  [`GET ${LLM}/videos`]: video("List videos (OpenAI)", videos.openaiVideoPage, { query: videos.openaiVideoPageQuery }),
  [`GET ${LLM}/videos/:job_id`]: video("Retrieve a video (OpenAI)", videos.openaiVideo),
  [`GET ${LLM}/videos/:job_id/content`]: video(
    "Download a video (OpenAI)",
    { status: 200, media: "*/*" },
    { query: videos.openaiVideoContentQuery },
  ),
  [`DELETE ${LLM}/videos/:job_id`]: video("Delete a video with its file (OpenAI)", videos.openaiVideoDeleted),
};
