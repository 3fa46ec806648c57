import { isIP } from "node:net";
import { isPrivateAddress } from "../../kernel/http/private-address.ts";

/** Names that mean this machine, its network or its cloud, whatever they resolve to. */
const PRIVATE_SUFFIXES = [
  "localhost",
  "local",
  "localdomain",
  "internal",
  "intranet",
  "lan",
  "corp",
  "home",
  "home.arpa",
  "private",
  "svc",
];

/** Public names that resolve to the address written in them, or to this machine. */
const REBINDING_SUFFIXES = [
  "nip.io",
  "sslip.io",
  "xip.io",
  "localtest.me",
  "lvh.me",
  "vcap.me",
  "lacolhost.com",
  "rebind.network",
  "1u.ms",
  "traefik.me",
  "local.gd",
  "lndo.site",
  "ddev.site",
];

/**
 * Whether a host, as given by a parsed URL (lower case, numbers decoded), is not on the public internet: loopback,
 * private, link-local, metadata, reserved, or a name that can only mean such. A public name may still resolve to a
 * private address; whoever connects must check that.
 */
export function isPrivateHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").replace(/\.+$/, "");
  if (name === "") return true;
  if (isIP(name) !== 0) return isPrivateAddress(name);
  // A host that still has escapes is not a host name; local sockets are written like that.
  if (!name.includes(".") || name.includes("%")) return true;
  return [...PRIVATE_SUFFIXES, ...REBINDING_SUFFIXES].some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}
