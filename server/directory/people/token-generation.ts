import type { Clock } from "../../kernel/clock.ts";
import type { EndUserRow } from "../../store/people/end-users.ts";

/**
 * Tokens issued before this are void. Moves on even when the clock stands still, and past the millisecond a token names.
 * To be taken when the user's row is locked, and not when the change began: until then people log in with what they had.
 */
export function nextTokenGeneration(row: Pick<EndUserRow, "tokens_valid_from">, clock: Clock): Date {
  return new Date(Math.max(clock.now(), row.tokens_valid_from.getTime()) + 1);
}
