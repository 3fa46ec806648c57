import type { Clock } from "../../kernel/clock.ts";
import type { EndUserRow } from "../../store/people/end-users.ts";

/**
 * The time from which the user's tokens are valid. Always increases, also beyond the millisecond named in any token. Call
 * it with the user's row locked: until then, people can still log in with their old credentials.
 */
export function nextTokenGeneration(row: Pick<EndUserRow, "tokens_valid_from">, clock: Clock): Date {
  return new Date(Math.max(clock.now(), row.tokens_valid_from.getTime()) + 1);
}
