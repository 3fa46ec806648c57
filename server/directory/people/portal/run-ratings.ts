import { putFeedback, runOfUser, withdrawFeedback } from "../../../store/run-feedback.ts";
import type { Directory } from "../../writes/write.ts";

export type RateRunParts = Pick<Directory, "db" | "clock">;

/** Keeps the user's rating of the first of these runs they took part in; 0 withdraws it. False when there is no such run. */
export async function rateRun(
  { db, clock }: RateRunParts,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
  rootTaskIds: readonly string[],
  { score, comment }: { readonly score: 1 | -1 | 0; readonly comment: string | null },
): Promise<boolean> {
  const rootTaskId = await runOfUser(db, tenantId, rootTaskIds, userId);
  if (rootTaskId === null) return false;
  if (score === 0) await withdrawFeedback(db, tenantId, rootTaskId, userId);
  else await putFeedback(db, { tenantId, rootTaskId, userId, score, comment, now: new Date(clock.now()) });
  return true;
}
