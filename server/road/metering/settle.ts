import type { MicroUsd } from "../../kernel/money.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import { tiersServed } from "../../wire/serving.ts";
import { cacheWriteTokens, hasTokenCounts, inputTokens, type Usage } from "../../wire/usage.ts";
import { arrivalOf, type Call } from "../call.ts";
import { addTag } from "../record/add-tag.ts";
import { noteDetail } from "../record/row-detail.ts";
import { costAt, type Cost } from "./cost.ts";
import { modelOf } from "../target.ts";

/**
 * Writes usage and cost to the call's row, at the prices in force when it arrived: those of its answer (null if there was none) plus those
 * of failed attempts. If any part has no price, the total has none. Idempotent for the same usage.
 */
export function settle(call: Call, usage: Usage | null): void {
  const { row } = call;
  const model = modelOf(call);
  const failed = call.attempts.flatMap((attempt) =>
    attempt.usage === null ? [] : [{ usage: attempt.usage, costMicros: attempt.costMicros }],
  );
  if (usage === null && failed.length === 0) return;
  let input = 0;
  let output = 0;
  let cacheRead = 0;
  let cacheWrite = 0;
  const uses = [...failed.map((attempt) => attempt.usage), ...(usage === null ? [] : [usage])];
  for (const used of uses) {
    input += inputTokens(used);
    output += used.output;
    cacheRead += used.cacheRead;
    cacheWrite += cacheWriteTokens(used);
  }
  if (uses.some(hasTokenCounts)) {
    row.llm_prompt_tokens = input;
    row.llm_completion_tokens = output;
    row.llm_total_tokens = input + output;
  }
  if (cacheRead > 0) row.prompt_cache_read_tokens = cacheRead;
  if (cacheWrite > 0) row.prompt_cache_write_tokens = cacheWrite;
  if (usage?.images !== undefined) row.media_images_generated = usage.images;
  if (usage?.spokenCharacters !== undefined) row.media_audio_chars = usage.spokenCharacters;
  if (usage?.audioSeconds !== undefined) row.media_audio_seconds_input = usage.audioSeconds;
  if (usage?.videoSeconds !== undefined) row.media_video_seconds_output = usage.videoSeconds;
  if (usage?.estimated === true || failed.some((attempt) => attempt.usage.estimated)) addTag(call, "usage_estimated");
  let micros: MicroUsd | null = 0;
  for (const { costMicros } of failed) micros = micros === null || costMicros === null ? null : micros + costMicros;
  if (usage !== null) {
    const cost = model === null ? null : reduced(costAt(model.priceSchedule, usage, arrivalOf(call)), call.priceFactor ?? 1);
    micros = micros === null || cost === null ? null : micros + cost.micros;
    noteDetail(row, "service_tier", tiersServed(usage.serving).join(" ") || null);
    if (cost !== null && cost.cacheSavings !== null) row.prompt_cache_savings_usd = usdFromMicros(cost.cacheSavings);
  }
  if (micros !== null) row.llm_estimated_cost_usd = usdFromMicros(micros);
}

/** Applies the call's price factor; the cost is rounded up. */
function reduced(cost: Cost | null, factor: number): Cost | null {
  if (cost === null || factor === 1) return cost;
  const { micros, cacheSavings } = cost;
  return { micros: Math.ceil(micros * factor), cacheSavings: cacheSavings === null ? null : Math.round(cacheSavings * factor) };
}
