import { isObject, type JsonValue } from "../../kernel/json-value.ts";
import { plausibleUsage, count, type Usage } from "../usage.ts";

/** Reads the `usage` of an answer or of a stream's metadata; null if it is not one. Input excludes cached tokens. */
export function readConverseUsage(value: JsonValue | undefined): Usage | null {
  if (!isObject(value) || (typeof value.inputTokens !== "number" && typeof value.outputTokens !== "number")) return null;
  const written = { hour: 0, all: 0 };
  for (const detail of Array.isArray(value.cacheDetails) ? value.cacheDetails : []) {
    if (!isObject(detail)) continue;
    written.all += count(detail.inputTokens);
    if (detail.ttl === "1h") written.hour += count(detail.inputTokens);
  }
  const writes = Math.max(count(value.cacheWriteInputTokens), written.all);
  return plausibleUsage({
    inputUncached: count(value.inputTokens),
    cacheRead: count(value.cacheReadInputTokens),
    cacheWrite: writes - written.hour,
    cacheWriteHour: written.hour,
    output: count(value.outputTokens),
    // The API includes reasoning in the output and does not report it separately.
    reasoning: 0,
    estimated: false,
  });
}
