import type { ModelEntry } from "../../directory/snapshot.ts";
import type { Film } from "../../wire/media-asked.ts";

/** Tokens that a second of video comes to at most, as the vendors count it that bill by them. */
export const FILMED_A_SECOND = 10_000;
/**
 * How long a video may come to be where neither its caller nor the model's record says: no provider served here makes longer ones
 * unasked.
 */
const LONGEST_FILM = 30;

/** Tokens that a request may come to be billed for: none where the model's record does not price them. */
export function filmTokens(
  model: Pick<ModelEntry, "maxVideoDurationSeconds" | "supportedVideoDurations" | "priceSchedule">,
  film: Pick<Film, "seconds">,
): number {
  const byTokens = model.priceSchedule.some(({ prices }) => prices.input !== null && prices.output !== null);
  return byTokens ? Math.ceil(filmSeconds(model, film) * FILMED_A_SECOND) : 0;
}

/** Seconds of video that a request may come to be billed for. */
export function filmSeconds(
  model: Pick<ModelEntry, "maxVideoDurationSeconds" | "supportedVideoDurations">,
  { seconds }: Pick<Film, "seconds">,
): number {
  if (seconds !== null) return seconds;
  const longest = Math.max(0, ...(model.supportedVideoDurations ?? []));
  return model.maxVideoDurationSeconds ?? (longest > 0 ? longest : LONGEST_FILM);
}
