import { requestHolder } from "../../../road/admission/request-holder.ts";
import type { Call } from "../../../road/call.ts";
import type { ProvenPrincipal } from "./flow.ts";
import { principalOfIdentity } from "./principal.ts";

/** The principal proven by the request's credential; null if it proves none. */
export function requestPrincipal(call: Call): ProvenPrincipal | null {
  const holder = requestHolder(call);
  return holder === null || call.identity === null ? null : { holder, ...principalOfIdentity(call.identity) };
}
