import { endUserOfSignOn } from "../../directory/identity/accounts.ts";
import { userActor } from "../../directory/people/portal/portal-logins.ts";
import { Refused } from "../../kernel/errors.ts";
import { write } from "../../directory/writes/write.ts";
import { ownAnswer, type WholeAnswer } from "../../road/answer.ts";
import type { Arrived, Begun, SignOnPage } from "../../services/sign-on/sign-on.ts";
import { bindingCookie, movingOnPage, testedPage } from "../../wire/http/sign-on-page.ts";
import type { PortalRequest } from "./portal-request.ts";

export type PortalSsoRequest = PortalRequest<unknown, unknown>;

export function portalSignOnBegun(page: SignOnPage, { location, binding, kind }: Begun): WholeAnswer {
  return ownAnswer(302, {
    location,
    "set-cookie": bindingCookie(page.base, kind, binding),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
  });
}

export async function portalArrival(
  request: PortalSsoRequest,
  page: SignOnPage,
  binding: string | null,
  how: Arrived,
): Promise<WholeAnswer> {
  const { services, call, origin } = request;
  const { signOn, directory } = services;
  if (how.kind === "again") return portalSignOnBegun(page, how.begun);
  const { place, claims } = how;
  call.row.tenant_id = place.tenantId;
  if (how.kind === "tested") {
    const { headers, body } = testedPage(claims, signOn.mapping(place, claims));
    return ownAnswer(200, headers, body);
  }
  const user = await write(directory, { ...userActor({ id: "" }, origin), id: null }, (change) => endUserOfSignOn(change, place, claims));
  if (user instanceof Refused) throw user;
  services.users.drop(user.tenant_id, user.id);
  Object.assign(call.row, { gateway_user_id: user.id, gateway_user_username: user.username, subject_kind: "user", subject_id: user.id });
  const bound = binding ?? crypto.randomUUID();
  const { headers, body } = movingOnPage(how.returnTo, await signOn.codeFor(how, user, bound));
  return ownAnswer(200, binding === null ? { ...headers, "set-cookie": bindingCookie(page.base, place.kind, bound) } : headers, body);
}
