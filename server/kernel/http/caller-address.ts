import { ipAddress } from "./ip-address.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** Accepts `203.0.113.7`, `203.0.113.7:4711`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:4711`. */
function hopOf(text: string): string | null {
  const hop = text.trim();
  const [, host] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop) ?? /^([\d.]+):\d{1,5}$/.exec(hop) ?? [];
  return ipAddress(host ?? hop);
}

/**
 * The caller's address. Any peer may send `X-Forwarded-For`, so it is read only if the peer is a trusted proxy, and from the right, where
 * each proxy appends the peer it saw: the first address that is not a trusted proxy is the caller. Anything to its left is unverified, and
 * an invalid address ends the search.
 */
export function callerAddress(peer: string, headers: Headers, proxies: TrustedProxies): string {
  let address = ipAddress(peer) ?? peer;
  if (!proxies.has(address)) return address;
  for (const text of (headers.get("x-forwarded-for") ?? "").split(",").toReversed()) {
    // List syntax allows empty members.
    if (text.trim() === "") continue;
    const hop = hopOf(text);
    if (hop === null) return address;
    address = hop;
    if (!proxies.has(address)) return address;
  }
  return address;
}
