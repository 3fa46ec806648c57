import { type DatedPrices, type Prices, pricesAt } from "../../directory/models/prices.ts";
import type { ModelEntry } from "../../directory/snapshot.ts";
import type { VideoJob } from "../../directory/videos/video-store.ts";
import { costAt, costOfUsage } from "../../road/metering/cost.ts";
import { VIDEO_TOKENS_PER_SECOND, billedVideoSeconds } from "../../road/metering/video-billing.ts";
import type { ReferencedVideo } from "../../wire/media-request.ts";
import { plausibleUsage, type Usage } from "../../wire/usage.ts";
import type { VideoJobState } from "../../wire/videos/video-codec.ts";

const NOTHING: Usage = { inputUncached: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0, output: 0, reasoning: 0, estimated: false };

/** The prices a job is billed at, as stored with it. */
export type JobPrices = Pick<DatedPrices, "prices" | "tiers">;

export function jobPrices({ priceSchedule }: ModelEntry, at: number): JobPrices {
  const { prices, tiers } = pricesAt(priceSchedule, at);
  return { prices, tiers };
}

/** The highest cost of a job in micro-dollars; 0 if nothing in it has a price. */
export function mostOfJob(model: ModelEntry, { prices, tiers }: JobPrices, video: ReferencedVideo): number {
  const videoSeconds = Math.ceil(billedVideoSeconds(model, video));
  const tokens = videoSeconds * VIDEO_TOKENS_PER_SECOND;
  const costs = [prices, ...tiers.map((tier) => tier.prices)].flatMap((of: Prices) => [
    costOfUsage(of, { ...NOTHING, videoSeconds, videoResolution: video.resolution })?.micros ?? 0,
    of.input === null || of.output === null ? 0 : (costOfUsage(of, { ...NOTHING, output: tokens, videoOutput: tokens })?.micros ?? 0),
  ]);
  return Math.max(0, ...costs);
}

/** Usage of a job that produced a video: tokens if the provider reports them, and the length of the video. */
export function usageOfVideo(job: VideoJob, { usage, seconds }: Pick<VideoJobState, "usage" | "seconds">): Usage {
  const used = { ...(usage ?? NOTHING), videoSeconds: secondsMade(job, seconds), videoResolution: job.resolution };
  return plausibleUsage(used) ?? { ...NOTHING, videoSeconds: job.seconds ?? 0, videoResolution: job.resolution, estimated: true };
}

/**
 * For an extension the provider reports the total length: the part that existed before is not billed again, but no less than was requested.
 */
function secondsMade({ seconds, source_seconds: before }: VideoJob, reportedSeconds: number | null): number {
  const requestedSeconds = seconds ?? 0;
  if (reportedSeconds === null) return requestedSeconds;
  return before === null ? reportedSeconds : Math.max(reportedSeconds - before, requestedSeconds);
}

/** The length of a job's video in seconds; null if unknown. */
export function secondsOfVideo({ seconds, source_seconds: before, usage }: VideoJob): number | null {
  const made = (usage as Usage | null)?.videoSeconds || seconds;
  return made === null ? null : made + (before ?? 0);
}

/** The cost in micro-dollars; null if something that was used has no price. */
export function costOfJob(job: VideoJob, usage: Usage | null): number | null {
  if (usage === null) return 0;
  const dated: DatedPrices = { from: Number.NEGATIVE_INFINITY, ...(job.prices as JobPrices) };
  return costAt([dated], usage, 0)?.micros ?? null;
}
