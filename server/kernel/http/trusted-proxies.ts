import { BlockList, isIP } from "node:net";
import { z } from "zod";
import { ipAddress } from "./ip-address.ts";

/** Proxies whose X-Forwarded-For is trusted. */
export interface TrustedProxies {
  /** Expects an address as `ipAddress` returns it. */
  has(address: string): boolean;
}

const NOBODY: TrustedProxies = { has: () => false };

/** Two lists, because an IPv6 range would otherwise match IPv4 addresses in their mapped form. */
interface Ranges {
  readonly ipv4: BlockList;
  readonly ipv6: BlockList;
}

const familyOf = (address: string): keyof Ranges => (isIP(address) === 6 ? "ipv6" : "ipv4");

function addTo(ranges: Ranges, entry: string): boolean {
  const [, given = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const address = ipAddress(given);
  if (address === null || given.includes("%")) return false;
  const family = familyOf(address);
  const width = family === "ipv4" ? 32 : 128;
  // The prefix of an IPv4 range written as mapped IPv6 counts 96 bits more.
  const prefix = bits === undefined ? width : Number(bits) - (familyOf(given) === family ? 0 : 96);
  if (prefix < 0 || prefix > width) return false;
  ranges[family].addSubnet(address, prefix, family);
  return true;
}

/** A comma-separated list of IPv4 and IPv6 addresses and CIDR ranges. */
export const trustedProxies = z.string().transform((value, ctx): TrustedProxies => {
  const entries = value
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (entries.length === 0) return NOBODY;
  const ranges: Ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  const bad = entries.find((entry) => !addTo(ranges, entry));
  if (bad === undefined) return { has: (address) => ranges[familyOf(address)].check(address, familyOf(address)) };
  ctx.addIssue({
    code: "custom",
    message: `must be a comma list of addresses and ranges such as 10.0.0.0/8 or 2001:db8::1, which ${bad} is not`,
  });
  return z.NEVER;
});
