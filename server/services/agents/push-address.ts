import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isPrivateAddress } from "../../kernel/http/private-address.ts";

const MAX_LENGTH = 2_000;

/**
 * Refuses an address to which notifications must not be sent; null if it is allowed. Checked when it is registered, so that the caller
 * learns of the problem, and again before each delivery.
 */
export async function refusedPushUrl(
  url: unknown,
  { allowPrivate, isLeftToProxy }: { readonly allowPrivate: boolean; readonly isLeftToProxy: (to: URL) => boolean },
): Promise<Refusal | null> {
  const denied = (why: string) => refuse("agent_push_url_denied", `Notifications are not sent to this address: ${why}.`);
  if (typeof url !== "string" || url.length > MAX_LENGTH || !URL.canParse(url)) return denied("it is none");
  const to = new URL(url);
  const { protocol, username, password, hostname } = to;
  if (protocol !== "https:" && !(protocol === "http:" && allowPrivate)) return denied("it is not https");
  if (username !== "" || password !== "") return denied("it holds a user or a password");
  if (allowPrivate) return null;
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (isIP(host) === 0 && isLeftToProxy(to)) return null;
  try {
    const addresses = isIP(host) === 0 ? (await lookup(host, { all: true })).map(({ address }) => address) : [host];
    return addresses.length === 0 || addresses.some(isPrivateAddress) ? denied("it is in a private network") : null;
  } catch {
    return denied("its host is not known");
  }
}
