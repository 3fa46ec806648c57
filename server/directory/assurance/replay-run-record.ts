import type { ReplayRun, ReplayRunState } from "@gatehouse/contracts/ai-replay";
import { usdFromMicros } from "../../kernel/money.ts";
import type { ReplayRunRow } from "../../store/assurance/replay.ts";

const stamp = (at: Date | null): string | null => at?.toISOString() ?? null;

export function replayRunRecord(row: ReplayRunRow): ReplayRun {
  return {
    id: row.id,
    ai_system_id: row.ai_system_id,
    suite_id: row.suite_id,
    suite_version: row.suite_version,
    state: row.state as ReplayRunState,
    contract_digest: row.contract_digest,
    models: row.models,
    totals: row.totals,
    cost_usd: row.cost_micro_usd === null ? null : usdFromMicros(row.cost_micro_usd),
    error: row.error,
    requested_by: row.requested_by,
    created_at: row.created_at.toISOString(),
    started_at: stamp(row.started_at),
    ended_at: stamp(row.ended_at),
  };
}
