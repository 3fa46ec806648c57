import { BlockList, isIP } from "node:net";
import { ipAddress } from "./ip-address.ts";

/** IPv4 and IPv6 addresses and CIDR ranges. */
export interface AddressRanges {
  /** Expects an address as `ipAddress` returns it. */
  has(address: string): boolean;
}

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

/** The index of the first entry that is none, instead of the ranges, if there is one. */
export function addressRanges(entries: readonly string[]): AddressRanges | number {
  const ranges: Ranges = { ipv4: new BlockList(), ipv6: new BlockList() };
  const bad = entries.findIndex((entry) => !addTo(ranges, entry));
  if (bad >= 0) return bad;
  return { has: (address) => isIP(address) !== 0 && ranges[familyOf(address)].check(address, familyOf(address)) };
}
