import type { MappingPreviewResult } from "@gatehouse/contracts/identity-providers";
import { refuse, Refused } from "../../kernel/errors.ts";
import { hidesMarks } from "@gatehouse/contracts/conventions";

const MAX_USERNAME = 200;

/** A person confirmed by a provider and admitted by the mapping. */
export interface Vouched {
  readonly subject: string;
  readonly username: string;
  readonly who: MappingPreviewResult;
}

export function refusedSignOn(reason: string): Refused {
  return new Refused(refuse("sign_on_refused", reason));
}

/** The code is still valid, but its account has been signed out since. */
export const signedOutMeanwhile = (): Refused => refusedSignOn("Whoever signed in was signed out meanwhile. Begin again.");

export function vouched(who: MappingPreviewResult): Vouched {
  if (!who.allowed || who.subject === null || who.username === null)
    throw refusedSignOn(who.reason ?? "The provider does not say who it is.");
  const username = who.username.normalize("NFC").trim();
  if (username === "" || username.length > MAX_USERNAME || hidesMarks(username)) throw refusedSignOn("The username cannot be used here.");
  return { subject: who.subject, username, who };
}
