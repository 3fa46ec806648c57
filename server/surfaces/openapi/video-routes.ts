import { runtimeError } from "@gatehouse/contracts/portal-answers";
import * as videos from "@gatehouse/contracts/videos";
import type { z } from "zod";
import type { DescribedAnswer, DescribedRoute } from "./described-route.ts";

const LLM = "/v1/proxy/llm";

function video(summary: string, answer: DescribedAnswer | z.ZodType, more: Partial<DescribedRoute> = {}): DescribedRoute {
  return { tag: "Videos", summary, answer: "status" in answer ? answer : { status: 200, schema: answer }, error: runtimeError, ...more };
}

/** What the runtime plane's document says of the routes of videos. */
export const VIDEO_ROUTES: Readonly<Record<string, DescribedRoute>> = {
  [`POST ${LLM}/video/generations`]: video("Submits a video job", videos.videoJob, { body: videos.videoRequest }),
  [`GET ${LLM}/video/jobs/:job_id`]: video("A job", videos.videoJob),
  [`DELETE ${LLM}/video/jobs/:job_id`]: video("Cancels it at its provider", videos.videoJob),
  [`POST ${LLM}/videos`]: video("Submits a video job, in OpenAI's form", videos.openaiVideo, {
    body: videos.openaiVideoRequest,
    form: true,
  }),
  [`GET ${LLM}/videos`]: video("The caller's jobs, in OpenAI's form", videos.openaiVideoPage, { query: videos.openaiVideoPageQuery }),
  [`GET ${LLM}/videos/:job_id`]: video("A job, in OpenAI's form", videos.openaiVideo),
  [`GET ${LLM}/videos/:job_id/content`]: video("The video", { status: 200, media: "*/*" }, { query: videos.openaiVideoContentQuery }),
  [`DELETE ${LLM}/videos/:job_id`]: video("Deletes it with its file", videos.openaiVideoDeleted),
};
