import { z } from "zod";
import { timestamp } from "./conventions.ts";

const text = z.string();
const error = z.looseObject({ code: text, message: text }).nullable();
const reference = z
  .union([z.strictObject({ file_id: text }), z.strictObject({ image_url: text.describe("a data URL") })])
  .describe("the first picture");

/** A video request in the gateway's own format. */
export const videoRequest = z
  .looseObject({
    model: text.optional(),
    model_id: text.optional(),
    prompt: text,
    resolution: text.describe("one of the model's supported_video_resolutions, if it has any").optional(),
    duration_seconds: z.number().int().positive().optional(),
    aspect_ratio: text.optional(),
    negative_prompt: text.optional(),
    input_reference: reference.optional(),
    chat_id: text.optional(),
    display_name: text.optional(),
  })
  .meta({ id: "VideoRequest" });

export const videoJob = z
  .strictObject({
    job_id: text,
    status: z.enum(["queued", "in_progress", "succeeded", "failed", "cancelled", "expired"]),
    output_file_id: text.nullable().describe("if status is succeeded"),
    cost_usd: z.number().nullable().describe("null: unknown yet, or unpriced"),
    gw_model_id: text,
    created_at: timestamp,
    updated_at: timestamp,
    error,
    model: text,
    progress: z.number().int(),
    resolution: text.nullable(),
    duration_seconds: z.number().nullable(),
    chat_id: text.nullable(),
    source_job_id: text.nullable().describe("the job whose video this one was made from"),
  })
  .meta({ id: "VideoJob" });

/** A video request in OpenAI's format. */
export const openaiVideoRequest = z
  .looseObject({
    model: text,
    prompt: text,
    seconds: text.optional(),
    size: text.describe("WIDTHxHEIGHT").optional(),
    input_reference: text.meta({ format: "binary" }).optional(),
  })
  .meta({ id: "OpenAiVideoRequest" });

export const openaiVideoRemixRequest = z.looseObject({ prompt: text }).meta({ id: "OpenAiVideoRemixRequest" });

const madeVideo = z.strictObject({ id: text }).describe("a video made here");

export const openaiVideoEditRequest = z.looseObject({ prompt: text, video: madeVideo }).meta({ id: "OpenAiVideoEditRequest" });

export const openaiVideoExtensionRequest = z
  .looseObject({ prompt: text, video: madeVideo, seconds: text.describe("of the part to add") })
  .meta({ id: "OpenAiVideoExtensionRequest" });

export const openaiVideo = z
  .looseObject({
    id: text,
    object: z.literal("video"),
    status: z.enum(["queued", "in_progress", "completed", "failed"]),
    model: text,
    progress: z.number().int(),
    created_at: z.number().int(),
    completed_at: z.number().int().nullable(),
    expires_at: z.number().int().nullable(),
    seconds: text.nullable(),
    size: text.nullable(),
    remixed_from_video_id: text.nullable().describe("the video that this one was made from"),
    error,
  })
  .meta({ id: "OpenAiVideo" });

export const openaiVideoPage = z
  .strictObject({
    object: z.literal("list"),
    data: z.array(openaiVideo),
    first_id: text.nullable(),
    last_id: text.nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "OpenAiVideoPage" });

export const openaiVideoPageQuery = z.strictObject({
  after: text.optional(),
  limit: z.coerce.number().int().min(1).max(100).optional(),
  order: z.enum(["asc", "desc"]).optional(),
});

export const openaiVideoContentQuery = z.strictObject({ variant: z.literal("video").optional() });

export const openaiVideoDeleted = z
  .strictObject({ id: text, object: z.literal("video.deleted"), deleted: z.boolean() })
  .meta({ id: "OpenAiVideoDeleted" });
