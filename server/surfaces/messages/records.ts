import type { Refusal } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { messagesRefusals } from "./refusals.ts";

/** A surface for stored records, under Anthropic's paths. */
export function recordSurface(answer: (call: Call) => Promise<Answer | Refusal>): Surface {
  return { ...messagesRefusals, read: () => ({ view: EMPTY_VIEW, answer }) };
}

/** The members of a page of Anthropic's lists besides `data`. */
export interface PageEnds {
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/**
 * A page of at most `limit`. `found` may have one more, in the direction of paging, if there are more pages. `before`: the page ends before
 * that ID.
 */
export function messagesPage<T extends { readonly id: string }>(
  found: readonly T[],
  limit: number,
  before: string | undefined,
): { readonly shown: readonly T[]; readonly ends: PageEnds } {
  const shown = before === undefined ? found.slice(0, limit) : found.slice(-limit);
  return { shown, ends: { has_more: found.length > limit, first_id: shown[0]?.id ?? null, last_id: shown.at(-1)?.id ?? null } };
}
