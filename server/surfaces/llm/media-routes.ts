import type { GovernedRoute } from "../../road/road.ts";
import type { Surface } from "../../road/surface.ts";
import type { MediaSpool } from "../../services/files/read-media.ts";
import type { Dispatch } from "../../services/models/dispatch.ts";
import { imageEdits, imageGenerations } from "./images.ts";
import { moderations } from "./moderations.ts";
import { speech } from "./speech.ts";
import { transcriptions } from "./transcriptions.ts";

interface MediaServices {
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

/** Every route of pictures and sound. */
export const MEDIA_ROUTES: readonly MediaRoute[] = [
  media("/images/generations", "image_generations", ({ models }) => imageGenerations(models)),
  media("/images/edits", "image_edits", ({ models, spool }) => imageEdits(models, spool), "streamed"),
  media("/audio/speech", "audio_speech", ({ models }) => speech(models)),
  media(
    "/audio/transcriptions",
    "audio_transcriptions",
    ({ models, spool }) => transcriptions("transcriptions", models, spool),
    "streamed",
  ),
  media("/audio/translations", "audio_translations", ({ models, spool }) => transcriptions("translations", models, spool), "streamed"),
  media("/moderations", "moderations", ({ models }) => moderations(models)),
];
