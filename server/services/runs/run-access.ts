import type { UsageTruth } from "../../directory/limits/usage-truth.ts";
import { isoMicros, type Clock } from "../../kernel/clock.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { usdFromMicros } from "../../kernel/money.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import { isStorableText } from "../../kernel/text/storable.ts";
import { endRunOf, type RunEnd, type RunSummary, type RunView, viewRun } from "../../ledger/runs/run-view.ts";
import type { Call, Identity } from "../../road/call.ts";
import { joinRun, rootTaskId } from "../../road/record/run.ts";
import { noteRunInPath } from "../../road/record/run-in-path.ts";

export interface RunAccessParts {
  readonly db: Parameters<typeof viewRun>[0];
  /** The usage that run ceilings are checked against. */
  readonly truth: Pick<UsageTruth, "run">;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves when everything this gateway has recorded so far is in the database, or if it cannot be there soon. */
  readonly shipped: () => Promise<boolean>;
}

/**
 * The limits of one run and its usage, keyed by the policy's names. Usage is counted as for enforcement: only calls that reached a model.
 * `current_usage` is null if it cannot be told from the run's rows.
 */
export type Ceilings = Readonly<Record<string, { readonly max_limit: number; readonly current_usage: number | null }>>;

/** What a caller may read and end of the runs it took part in. */
export interface RunAccess {
  /** Assigns a call to its run, for calls admitted by their surface instead of by a credential. */
  join(call: Call, identity: Identity): void;
  inspect(call: Call, id: string): Promise<(RunView & { readonly ceilings: Ceilings | null }) | Refusal>;
  end(call: Call, id: string, end: Omit<RunEnd, "at">): Promise<RunSummary | Refusal>;
}

const NO_SUCH_RUN = "There is no such run among those this credential took part in.";

export function runAccess(parts: RunAccessParts): RunAccess {
  async function found<T extends { readonly root_task_id: string; readonly run_id: string }>(
    call: Call,
    id: string,
    work: (tenantId: string, ids: readonly string[], participant: string) => Promise<T | null>,
  ): Promise<T | Refusal> {
    const { identity } = call;
    if (identity === null) return refuse("unauthenticated");
    if (!isStorableText(id)) return refuse("not_found", NO_SUCH_RUN);
    try {
      // Rows that could not be shipped in time are just missing from the result.
      await parts.shipped();
      const run = await work(identity.tenantId, formsOf(id, identity), participantOf(identity));
      if (run === null) return refuse("not_found", NO_SUCH_RUN);
      call.row.root_task_id = run.root_task_id;
      noteRunInPath(call, run.root_task_id);
      call.answerHeaders["x-gw-run-id"] = run.run_id;
      return run;
    } catch (error) {
      parts.log.warn("run_not_read", { call_id: call.id, error: error as Error });
      return refuse("ledger_unavailable", undefined, { headers: { "retry-after": "1" } });
    }
  }

  /** The ceilings in force now for the run's group; null if none is set. */
  async function ceilingsOf(call: Call, run: RunView, tenantId: string): Promise<Ceilings | null> {
    const set = call.scope?.tenant.policies.effective(run.resource_group_id, "run_ceilings");
    if (set === undefined || set.size === 0) return null;
    const { requests, tokens, micros } = await parts.truth.run(tenantId, run.root_task_id);
    const ended = run.ended_at === null ? parts.clock.now() : Date.parse(run.ended_at);
    const used: Readonly<Record<string, number>> = {
      max_cost_per_run_usd: usdFromMicros(micros),
      max_tokens_per_run: tokens,
      max_llm_calls_per_run: requests,
      max_duration_seconds_per_run: Math.max(0, Math.floor((ended - Date.parse(run.started_at)) / 1000)),
    };
    return Object.fromEntries([...set].map(([name, limit]) => [name, { max_limit: limit as number, current_usage: used[name] ?? null }]));
  }

  /** The caller's own name for a run comes first; a root task ID never equals another run's name by chance. */
  const formsOf = (id: string, identity: Identity): string[] => [rootTaskId(parts.secrets, identity, id), id];

  return {
    join: (call, identity) => joinRun(call, identity, parts.secrets),
    inspect: (call, id) =>
      found(call, id, async (tenantId, ids, participant) => {
        const run = await viewRun(parts.db, tenantId, ids, participant);
        return run === null ? null : { ...run, ceilings: await ceilingsOf(call, run, tenantId) };
      }),
    end: (call, id, end) =>
      found(call, id, (tenantId, ids, participant) =>
        endRunOf(parts.db, tenantId, ids, participant, { ...end, at: isoMicros(parts.clock.micros()) }),
      ),
  };
}

function participantOf(identity: Identity): string {
  return identity.credentialId;
}
