import { repeatedHeaders } from "../../road/own-calls/repeated-headers.ts";
import type { VideoJob, VideoStore } from "../../directory/videos/video-store.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import type { BackgroundCalls } from "../../road/own-calls/background-calls.ts";
import { cacheWriteTokens, inputTokens, type Usage } from "../../wire/usage.ts";

interface SettleParts {
  readonly store: VideoStore;
  readonly calls: Pick<BackgroundCalls, "recordEvent">;
  readonly now: () => number;
}

/** How long to wait for a row that a process was about to write when it died: until it can be expected back with its journal. */
const ROW_TIMEOUT_MS = 24 * 3_600_000;
const POLL_INTERVAL_MS = 2_000;

/**
 * Writes the one audit row that reports a job's outcome; true once that row is known to be stored. The row's ID is noted in the job between
 * the row's begin marker and the row itself, so it is reported once, whichever process dies when. An ID that was noted turns up in the
 * ledger as written or interrupted; the row is written anew only if it was interrupted or does not turn up within `ROW_TIMEOUT_MS`. That
 * holds for the process that failed to seal the row, too: a row whose sync failed may be in the journal all the same.
 */
export async function settleJob({ store, calls, now }: SettleParts, runner: string, job: VideoJob): Promise<boolean> {
  if (job.upstream_id === null) {
    // No provider accepted the job, so the row of the submitting call reports it.
    await store.noteSettled(runner, job.id);
    return true;
  }
  if (job.settlement_id !== null) {
    const fate = await store.settlementOutcome(job.tenant_id, job.settlement_id);
    if (fate === "told") {
      await store.noteSettled(runner, job.id);
      return true;
    }
    const waited = now() - (job.settling_since?.getTime() ?? now());
    if (fate === "interrupted" || waited > ROW_TIMEOUT_MS) await store.forgetSettlement(runner, job.id);
    else await store.note(runner, job.id, { failures: 0, afterMs: POLL_INTERVAL_MS });
    return false;
  }
  const isReported = await calls.recordEvent(
    {
      audit: { proxyType: "llm", proxySubtype: "video_end" },
      path: `/v1/proxy/llm/video/jobs/${job.id}`,
      headers: repeatedHeaders(job),
      ip: job.client_ip,
      parentId: job.request_id,
      rootTaskId: job.root_task_id,
      noted: { video_end: { job_id: job.id, status: job.status, output_file_id: job.output_file_id, resolution: job.resolution } },
      fields: rowOfJob(job),
      claim: (rowId) => store.claimSettlement(runner, job.id, rowId),
    },
    { tenantId: job.tenant_id, groupId: job.resource_group_id, keyId: job.api_key_id, userId: job.end_user_id },
    { status: 200, errorType: job.error?.code ?? null, errorMessage: job.error?.message ?? null },
  );
  if (isReported) await store.noteSettled(runner, job.id);
  return isReported;
}

function rowOfJob(job: VideoJob) {
  const usage = job.usage as Usage | null;
  const { cost_micro_usd: micros } = job;
  return {
    llm_model_requested: job.model,
    llm_model_used: job.model,
    llm_provider: job.provider_key,
    llm_streaming: false,
    upstream_request_id: job.upstream_id?.slice(0, 200) ?? null,
    ...(micros !== null && { llm_estimated_cost_usd: usdFromMicros(micros) }),
    ...(usage !== null && {
      llm_prompt_tokens: inputTokens(usage),
      llm_completion_tokens: usage.output,
      llm_total_tokens: inputTokens(usage) + usage.output,
      ...(usage.cacheRead > 0 && { prompt_cache_read_tokens: usage.cacheRead }),
      ...(cacheWriteTokens(usage) > 0 && { prompt_cache_write_tokens: cacheWriteTokens(usage) }),
      ...(usage.videoSeconds !== undefined && { media_video_seconds_output: usage.videoSeconds }),
    }),
  };
}
