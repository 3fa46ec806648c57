import { z } from "zod";

/** Schemas of the runtime plane's API document for images, speech, transcription and moderations in OpenAI's format. */

const text = z.string();

export const imagesRequest = z
  .looseObject({
    model: text,
    prompt: text,
    n: z.number().int().min(1).max(10).optional(),
    size: text.describe('"auto" or WIDTHxHEIGHT').optional(),
    quality: text.optional(),
    style: z.enum(["vivid", "natural"]).optional(),
    response_format: z.enum(["url", "b64_json"]).describe("default: url; b64_json for streams").optional(),
    stream: z.boolean().describe("true: events").optional(),
    partial_images: z.number().int().min(0).max(3).optional(),
    chat_id: text.optional(),
    display_name: text.optional(),
  })
  .meta({ id: "ImagesRequest" });

const formFlag = z.enum(["true", "false"]);

export const imageEditForm = z
  .looseObject({
    image: text.meta({ format: "binary" }).describe("as `image[]` where several are sent"),
    mask: text.meta({ format: "binary" }).optional(),
    model: text,
    prompt: text,
    n: text.optional(),
    size: text.describe('"auto" or WIDTHxHEIGHT').optional(),
    quality: text.optional(),
    response_format: z.enum(["url", "b64_json"]).describe("default: url; b64_json for streams").optional(),
    stream: formFlag.describe("true: events").optional(),
    partial_images: text.optional(),
    chat_id: text.optional(),
    display_name: text.optional(),
  })
  .meta({ id: "ImageEditForm" });

export const imagesAnswer = z
  .looseObject({
    created: z.number().optional(),
    data: z.array(
      z.looseObject({ b64_json: text.nullable().optional(), url: text.optional(), revised_prompt: text.nullable().optional() }),
    ),
    gw_cost_usd: z.number().nullable().describe("null: unpriced"),
    gw_model_id: text,
  })
  .meta({ id: "ImagesAnswer" });

export const speechRequest = z
  .looseObject({
    model: text,
    input: text,
    voice: z.union([text, z.looseObject({ id: text })]),
    instructions: text.optional(),
    response_format: z.enum(["mp3", "opus", "aac", "flac", "wav", "pcm"]).optional(),
    speed: z.number().min(0.25).max(4).optional(),
    stream_format: z.enum(["audio", "sse"]).describe("sse: text/event-stream instead of the audio").optional(),
    persist: z.boolean().describe("true: stored, and named in the header X-Gw-File-Id").optional(),
    chat_id: text.optional(),
  })
  .meta({ id: "SpeechRequest" });

export const transcriptionForm = z
  .looseObject({
    file: text.meta({ format: "binary" }),
    model: text,
    language: text.optional(),
    prompt: text.optional(),
    temperature: text.optional(),
    response_format: z.enum(["json", "text", "srt", "vtt", "verbose_json", "diarized_json"]).optional(),
    stream: formFlag.optional(),
    chat_id: text.optional(),
    display_name: text.optional(),
  })
  .meta({ id: "TranscriptionForm" });

export const transcript = z.looseObject({ text }).meta({ id: "Transcript" });

export const moderationsRequest = z
  .looseObject({ model: text, input: z.union([text, z.array(text), z.array(z.looseObject({ type: text }))]) })
  .meta({ id: "ModerationsRequest" });

export const moderationsAnswer = z
  .looseObject({ id: text.optional(), model: text.optional(), results: z.array(z.looseObject({ flagged: z.boolean() })) })
  .meta({ id: "ModerationsAnswer" });
