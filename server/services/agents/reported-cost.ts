import type { Call } from "../../road/call.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../wire/document.ts";

const MOST_USD = 1_000_000;

/** What an agent says a message cost, in dollars: `cost_usd` of the metadata, or of `usage` there. The last it says counts. */
export function noteReportedCost({ row }: Call, { value }: AgentEvent): void {
  const told = [value, isObject(value.status) && isObject(value.status.message) ? value.status.message : undefined]
    .map(costIn)
    .find((usd) => usd !== null);
  if (told != null) row.llm_estimated_cost_usd = told;
}

function costIn(value: JsonObject | undefined): number | null {
  const metadata: JsonValue | undefined = value?.metadata;
  if (!isObject(metadata)) return null;
  const usd = metadata.cost_usd ?? (isObject(metadata.usage) ? metadata.usage.cost_usd : undefined);
  return typeof usd === "number" && usd >= 0 && usd <= MOST_USD ? usd : null;
}
