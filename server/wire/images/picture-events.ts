import type { JsonObject } from "../../kernel/json-value.ts";
import { objectsOf } from "../openai/loose-fields.ts";
import { lineJson } from "../streams/sse-data.ts";
import { sizeOf } from "./image-size.ts";
import { NO_TOKENS_TOLD } from "./images-reply.ts";
import type { PicturesRequest } from "./pictures-request.ts";

/** A complete answer as stream events, for models that cannot stream. The last event has the usage. */
export function pictureEvents({ created, data, usage, ...body }: JsonObject, { operation, size, quality }: PicturesRequest): string {
  const pictures = objectsOf(data);
  const type = operation === "images" ? "image_generation.completed" : "image_edit.completed";
  const events = pictures.map(([{ b64_json, revised_prompt }], at) => ({
    type,
    created_at: created ?? 0,
    background: body.background ?? "auto",
    output_format: body.output_format ?? "png",
    quality: body.quality ?? quality ?? "auto",
    size: body.size ?? (sizeOf(size) === null ? "auto" : (size as string)),
    ...(revised_prompt !== undefined && { revised_prompt }),
    ...(usage !== undefined && { usage: at === pictures.length - 1 ? usage : NO_TOKENS_TOLD }),
    b64_json: b64_json ?? null,
  }));
  return events.map((event) => `event: ${type}\ndata: ${lineJson(event)}\n\n`).join("");
}
