import { keyIdsOfUser } from "../../../store/people/end-users.ts";
import { putFeedback, runOfUser, withdrawFeedback } from "../../../store/runs/run-feedback.ts";
import type { Directory } from "../../writes/write.ts";

export type RateRunParts = Pick<Directory, "db" | "clock">;

/** A run as somebody names it. */
export interface NamedRun {
  readonly name: string;
  /** What the name comes to under a credential. */
  readonly under: (credentialId: string) => string;
}

/**
 * Keeps the user's rating of a run they took part in; 0 withdraws it. The root task id of the run, null when there is none such.
 * A name is theirs with a token, then with a key of their own, and a root task id last, which is never the name of another run by
 * chance.
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
