import { ipAddress } from "./ip-address.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:4711`. */
function hopOf(text: string): string | null {
  const hop = text.trim();
  const [, host] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop) ?? /^([\d.]+):\d{1,5}$/.exec(hop) ?? [];
  return ipAddress(host ?? hop);
}

/**
 * Where a call comes from. Whoever connects may claim anything in `X-Forwarded-For`, so it is read only when the peer is
 * a trusted proxy, and from the right, where each proxy writes whom it saw: the first that is not one of ours is the
 * caller. What stands to the left of that is a claim again, and what is no address ends the walk.
 */
export function callerAddress(peer: string, headers: Headers, proxies: TrustedProxies): string {
  let address = ipAddress(peer) ?? peer;
  if (!proxies.has(address)) return address;
  for (const text of (headers.get("x-forwarded-for") ?? "").split(",").toReversed()) {
    // A list may have empty members, which say nothing.
    if (text.trim() === "") continue;
    const hop = hopOf(text);
    if (hop === null) return address;
    address = hop;
    if (!proxies.has(address)) return address;
  }
  return address;
}
