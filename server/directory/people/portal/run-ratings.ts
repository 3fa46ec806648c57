import { keyIdsOfUser } from "../../../store/people/end-users.ts";
import { putFeedback, runOfUser, withdrawFeedback } from "../../../store/runs/run-feedback.ts";
import type { Directory } from "../../writes/write.ts";

export type RateRunParts = Pick<Directory, "db" | "clock">;

/** A run as the caller names it. */
export interface NamedRun {
  readonly name: string;
  /** The run's ID for the name under a given credential. */
  readonly under: (credentialId: string) => string;
}

/**
 * Stores the user's rating of a run they took part in; 0 withdraws it. Returns the run's root task ID, or null if there is
 * no such run. A name is resolved for the user's token, then for their own keys, and last as a root task ID, which cannot
 * coincide with the name of another run.
 */
export async function rateRun(
  { db, clock }: RateRunParts,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
  run: NamedRun,
  { score, comment }: { readonly score: 1 | -1 | 0; readonly comment: string | null },
): Promise<string | null> {
  const credentials = [userId, ...(await keyIdsOfUser(db, tenantId, userId))];
  const rootTaskId = await runOfUser(db, tenantId, [...credentials.map(run.under), run.name], userId);
  if (rootTaskId === null) return null;
  if (score === 0) await withdrawFeedback(db, tenantId, rootTaskId, userId);
  else await putFeedback(db, { tenantId, rootTaskId, userId, score, comment, now: new Date(clock.now()) });
  return rootTaskId;
}
