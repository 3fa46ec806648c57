import type { Refusal } from "../../kernel/errors.ts";
import type { Answer } from "../../road/answer.ts";
import type { Call } from "../../road/call.ts";
import { EMPTY_VIEW } from "../../road/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import { messagesRefusals } from "./refusals.ts";

/** A surface of what the gateway keeps, under Anthropic's own paths. */
export function recordSurface(answer: (call: Call) => Promise<Answer | Refusal>): Surface {
  return { ...messagesRefusals, read: () => ({ view: EMPTY_VIEW, answer }) };
}

/** What a page of Anthropic's lists says beside its `data`. */
export interface PageEnds {
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}

/** A page of at most `limit`: one more found, in the direction that was gone, says that there are more. `before`: it ends before that id. */
export function messagesPage<T extends { readonly id: string }>(
  found: readonly T[],
  limit: number,
  before: string | undefined,
): { readonly shown: readonly T[]; readonly ends: PageEnds } {
  const shown = before === undefined ? found.slice(0, limit) : found.slice(-limit);
  return { shown, ends: { has_more: found.length > limit, first_id: shown[0]?.id ?? null, last_id: shown.at(-1)?.id ?? null } };
}
