import type { ModelEntry } from "../../directory/snapshot.ts";
import type { ReferencedVideo } from "../../wire/media-request.ts";

/** The most tokens per second of video that token-billing vendors charge. */
export const VIDEO_TOKENS_PER_SECOND = 10_000;
/**
 * The assumed longest video in seconds, if neither the request nor the model's record says: no supported provider makes longer ones
 * unasked.
 */
const MAX_VIDEO_SECONDS = 30;

/** The most output tokens that a video request may be billed for; 0 if the model has no token prices. */
export function billedVideoTokens(
  model: Pick<ModelEntry, "maxVideoDurationSeconds" | "supportedVideoDurations" | "priceSchedule">,
  video: Pick<ReferencedVideo, "seconds">,
): number {
  const byTokens = model.priceSchedule.some(({ prices }) => prices.input !== null && prices.output !== null);
  return byTokens ? Math.ceil(billedVideoSeconds(model, video) * VIDEO_TOKENS_PER_SECOND) : 0;
}

/** The most seconds of video that a request may be billed for. */
export function billedVideoSeconds(
  model: Pick<ModelEntry, "maxVideoDurationSeconds" | "supportedVideoDurations">,
  { seconds }: Pick<ReferencedVideo, "seconds">,
): number {
  if (seconds !== null) return seconds;
  const longest = Math.max(0, ...(model.supportedVideoDurations ?? []));
  return model.maxVideoDurationSeconds ?? (longest > 0 ? longest : MAX_VIDEO_SECONDS);
}
