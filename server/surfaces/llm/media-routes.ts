import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import type { AnswerStore } from "../../services/files/store-answer.ts";
import type { MediaSpool } from "../../services/files/read-media.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { imageEdits, imageGenerations } from "./images.ts";
import { moderations } from "./moderations.ts";
import { speech } from "./speech.ts";
import { transcriptions } from "./transcriptions.ts";

interface MediaServices extends AnswerStore {
  readonly models: Dispatch;
  readonly spool: MediaSpool;
}

interface MediaRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "POST";
  readonly path: string;
  readonly surface: (services: MediaServices) => Surface;
}

const media = (path: string, proxySubtype: string, surface: MediaRoute["surface"], body: GovernedRoute["body"] = true): MediaRoute => ({
  method: "POST",
  path: `/v1/proxy/llm${path}`,
  surface,
  audit: { proxyType: "llm", proxySubtype },
  body,
});

/** All routes of images and audio. */
export const MEDIA_ROUTES: readonly MediaRoute[] = [
  media("/images/generations", "image_generations", (services) => imageGenerations(services.models, services)),
  media("/images/edits", "image_edits", (services) => imageEdits(services.models, services.spool, services), "streamed"),
  media("/audio/speech", "audio_speech", ({ models, files }) => speech(models, files)),
  media(
    "/audio/transcriptions",
    "audio_transcriptions",
    ({ models, spool, files }) => transcriptions("transcriptions", models, spool, files),
    "streamed",
  ),
  media(
    "/audio/translations",
    "audio_translations",
    ({ models, spool, files }) => transcriptions("translations", models, spool, files),
    "streamed",
  ),
  media("/moderations", "moderations", ({ models }) => moderations(models)),
];
