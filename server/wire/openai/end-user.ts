import { sha256Hex } from "../../kernel/secrets.ts";

/** The vendor refuses longer user names. */
const MAX_LENGTH = 64;

/** The end user's name for the vendor; one that is too long is replaced by its hash, which is stable for each user. */
export function endUserName(endUser: string): string {
  return endUser.length <= MAX_LENGTH ? endUser : sha256Hex(endUser);
}
