import { z } from "zod";
import { type AddressRanges, addressRanges } from "./address-ranges.ts";

/** Proxies whose X-Forwarded-For is trusted. */
export type TrustedProxies = AddressRanges;

const NOBODY: TrustedProxies = { has: () => false };

/** A comma-separated list of IPv4 and IPv6 addresses and CIDR ranges. */
export const trustedProxies = z.string().transform((value, ctx): TrustedProxies => {
  const entries = value
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  if (entries.length === 0) return NOBODY;
  const ranges = addressRanges(entries);
  if (typeof ranges !== "number") return ranges;
  ctx.addIssue({
    code: "custom",
    message: `must be a comma list of addresses and ranges such as 10.0.0.0/8 or 2001:db8::1, which ${entries[ranges]} is not`,
  });
  return z.NEVER;
});
