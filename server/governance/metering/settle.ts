import { usdFromMicros } from "../../kernel/money.ts";
import { inputTokens, type Usage } from "../../wire/usage.ts";
import type { Call } from "../call.ts";
import { costOfUsage } from "./cost.ts";

/** Writes what a call used and cost onto its record. */
export function settle(call: Call, usage: Usage): void {
  const { row, model } = call;
  const input = inputTokens(usage);
  row.llm_prompt_tokens = input;
  row.llm_completion_tokens = usage.output;
  row.llm_total_tokens = input + usage.output;
  if (usage.cacheRead > 0) row.prompt_cache_read_tokens = usage.cacheRead;
  if (usage.cacheWrite > 0) row.prompt_cache_write_tokens = usage.cacheWrite;
  if (usage.estimated) row.tags = [...((row.tags as string[] | undefined) ?? []), "usage_estimated"];
  const cost = model === null ? null : costOfUsage(model.prices, usage);
  if (cost === null) return;
  row.llm_estimated_cost_usd = usdFromMicros(cost.micros);
  if (cost.cacheSavings !== null) row.prompt_cache_savings_usd = usdFromMicros(cost.cacheSavings);
}
