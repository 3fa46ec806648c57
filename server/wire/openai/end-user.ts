import { sha256Hex } from "../../kernel/secrets.ts";

/** The vendor refuses requests whose end user has a longer name. */
const LONGEST = 64;

/** What the vendor is told of the end user: a name it would refuse becomes its hash, which is always the same for the same user. */
export function endUserName(endUser: string): string {
  return endUser.length <= LONGEST ? endUser : sha256Hex(endUser);
}
