import { rateRun, type RateRunParts } from "../../directory/people/portal/run-ratings.ts";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { Call } from "../../road/call.ts";
import { rootTaskId } from "../../road/record/run.ts";
import { noteRunInPath } from "../../road/record/run-in-path.ts";

export interface RunFeedbackParts extends RateRunParts {
  readonly secrets: SecretBox;
  /** Waits until everything this gateway has recorded so far is in the database; false if it cannot be there soon. */
  readonly shipped: () => Promise<boolean>;
}

/** People's ratings of runs they took part in. */
export interface RunFeedback {
  /** A score of 0 withdraws the rating. `runId` is the value of x-gw-run-id. */
  rate(
    call: Call,
    runId: string,
    rating: { readonly score: 1 | -1 | 0; readonly comment: string | null },
  ): Promise<{ run_id: string; score: 1 | -1 | null } | Refusal>;
}

export function openRunFeedback(parts: RunFeedbackParts): RunFeedback {
  return {
    async rate(call, runId, rating) {
      const { identity, user } = call;
      if (identity === null || user === null) return refuse("unauthenticated");
      if (!(await parts.shipped())) return refuse("ledger_unavailable", undefined, { headers: { "retry-after": "1" } });
      const run = { name: runId, under: (credentialId: string) => rootTaskId(parts.secrets, { ...identity, credentialId }, runId) };
      const rated = await rateRun(parts, { tenantId: user.tenant_id, userId: user.id }, run, rating);
      if (rated === null) return refuse("not_found", "There is no such run among those you took part in.");
      noteRunInPath(call, rated);
      return { run_id: runId, score: rating.score === 0 ? null : rating.score };
    },
  };
}
