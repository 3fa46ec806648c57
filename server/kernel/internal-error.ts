import { isDatabaseAway } from "./database-away.ts";
import { type Refusal, refuse } from "./errors.ts";

/** The refusal for an unexpected exception: says if the database is unavailable; everything else goes only to the log. */
export function internalErrorOf(error: unknown): Refusal {
  return isDatabaseAway(error) ? refuse("database_unavailable", undefined, { headers: { "retry-after": "1" } }) : refuse("internal_error");
}
