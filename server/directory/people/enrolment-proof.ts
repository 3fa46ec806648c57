import type { Clock } from "../../kernel/clock.ts";
import { refuse, Refused } from "../../kernel/errors.ts";
import { invalidField } from "../writes/records.ts";

/** What shows that whoever sets up a second factor is the holder of the account, and not of a stolen token only. */
export interface EnrolmentProof {
  /** The caller's token; null if nothing is known of its sign-in. */
  readonly token: { readonly issuedAt: number; readonly renewed: boolean } | null;
  readonly password?: string | undefined;
}

const RECENT_MS = 15 * 60_000;

/**
 * Requires a token of a recent sign-in, or the password of those who have one. Throws a refusal that names `password`, or
 * `recent_sign_in_required` where there is none to ask for.
 */
export async function proveEnrolment(
  clock: Clock,
  { token, password }: EnrolmentProof,
  account: { readonly hasPassword: boolean; readonly isRight: (password: string) => Promise<boolean> },
): Promise<void> {
  if (account.hasPassword && password !== undefined) {
    if (await account.isRight(password)) return;
    throw invalidField("password", "is wrong");
  }
  const isRecent = token !== null && !token.renewed && clock.now() - token.issuedAt <= RECENT_MS;
  if (isRecent) return;
  if (account.hasPassword) throw invalidField("password", "is required, unless you have just signed in");
  throw new Refused(refuse("recent_sign_in_required"));
}
