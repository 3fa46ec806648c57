import type { Refusal } from "../../kernel/errors.ts";
import type { RequestedKnowledge } from "../../road/request/requested-knowledge.ts";
import { invalidRequest } from "../../road/request/invalid-request.ts";
import type { ConversationInbound } from "../../wire/inbound.ts";

/** The request member that names knowledge bases; it is never sent to a provider. */
const MEMBER = "gw_knowledgebases";
const MAX = 20;

/** The knowledge bases that a request names, which are removed from it. */
export function requestedKnowledge(inbound: ConversationInbound): RequestedKnowledge | Refusal {
  const named = inbound.takeOut(MEMBER) ?? null;
  if (named === null) return { ids: null };
  if (!Array.isArray(named) || named.length > MAX || named.some((id) => typeof id !== "string" || id.length > 100))
    return invalidRequest([{ field: MEMBER, message: `must be a list of at most ${MAX} ids of knowledge bases` }]);
  return { ids: [...new Set(named as string[])] };
}
