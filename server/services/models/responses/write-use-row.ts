import { repeatedHeaders } from "../../../road/own-calls/repeated-headers.ts";
import type { ResponseStore, StoredResponse, UseOfResponse } from "../../../directory/responses/response-store.ts";
import { usdFromMicros } from "../../../kernel/money.ts";
import type { BackgroundCalls } from "../../../road/own-calls/background-calls.ts";
import { tiersServed } from "../../../wire/serving.ts";
import { cacheWriteTokens, type Usage } from "../../../wire/usage.ts";

interface UseRowParts {
  readonly store: ResponseStore;
  readonly calls: Pick<BackgroundCalls, "recordEvent">;
}

interface EndOfResponse {
  readonly used: UseOfResponse;
  readonly usage: Usage;
  readonly status: string | null;
  /** Why it failed at its provider; null if it did not. */
  readonly failed: string | null;
}

/**
 * Writes the one audit row that reports what a stored response used; true once the row is known to exist. The row's ID is stored with the
 * response between the row's begin marker and the row itself, so that a process taking over writes it only once. If the row could not be
 * sealed its ID stays noted: it may be in the journal all the same, and the meter finds out what became of it.
 */
export async function writeUseRow({ store, calls }: UseRowParts, row: StoredResponse, end: EndOfResponse): Promise<boolean> {
  const tiers = tiersServed(end.usage.serving);
  const isReported = await calls.recordEvent(
    {
      audit: { proxyType: "llm", proxySubtype: "response_end" },
      path: `/v1/proxy/llm/responses/${row.id}`,
      headers: repeatedHeaders(row),
      ip: row.client_ip,
      parentId: row.request_id,
      rootTaskId: row.root_task_id,
      noted: { response_end: { response_id: row.id, status: end.status }, ...(tiers.length > 0 && { service_tier: tiers.join(" ") }) },
      fields: rowOfEnd(row, end),
      claim: (rowId) => store.claimSettlement(row, rowId, end.used),
    },
    { tenantId: row.tenant_id, groupId: row.resource_group_id, keyId: row.api_key_id, userId: row.end_user_id },
    { status: 200, errorType: end.failed === null ? null : "upstream_error", errorMessage: end.failed },
  );
  if (isReported) await store.noteSettled(row);
  return isReported;
}

function rowOfEnd(row: StoredResponse, { used, usage }: EndOfResponse) {
  return {
    llm_model_requested: row.model,
    llm_model_used: row.model,
    llm_provider: row.provider_key,
    llm_streaming: false,
    llm_prompt_tokens: used.input,
    llm_completion_tokens: used.output,
    llm_total_tokens: used.input + used.output,
    ...(used.micros !== null && { llm_estimated_cost_usd: usdFromMicros(used.micros) }),
    ...(usage.cacheRead > 0 && { prompt_cache_read_tokens: usage.cacheRead }),
    ...(cacheWriteTokens(usage) > 0 && { prompt_cache_write_tokens: cacheWriteTokens(usage) }),
  };
}
