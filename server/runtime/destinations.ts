import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPrivateAddress } from "../kernel/http/private-address.ts";
import type { AnsweringFirst } from "./answering-first.ts";
import { goesByProxy } from "./by-proxy.ts";

export class OutboundDenied extends Error {}

export interface AddressChecks {
  readonly resolve?: Resolve;
  readonly isDenied?: (address: string) => boolean;
  /** Whether a named host is resolved and checked only by the proxy that the request goes to. By default none is. */
  readonly isLeftToProxy?: (to: URL) => boolean;
}

/** Never a public host, whatever a proxy makes of it. */
const LOCAL_NAME = /(?:^|\.)localhost\.?$/i;

export const portOf = ({ protocol, port }: URL) => Number(port) || (protocol === "https:" ? 443 : 80);

type Resolve = (host: string) => Promise<string[]>;
const systemResolve: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** The resolved target of a fetch. */
interface Destination {
  readonly url: string;
  /** The IP that a name was resolved to. */
  readonly address?: string;
  readonly headers: Headers | Record<string, string>;
  readonly tls?: { readonly serverName: string };
  /** Bun's `fetch` ignores the proxies of the environment only if this is false; its type has no such value. */
  readonly proxy?: undefined;
}

const WITHOUT_PROXY = { proxy: false } as unknown as { readonly proxy?: undefined };

/**
 * Addresses the request to the IP that was checked, because a second lookup could yield another one (DNS rebinding). The Host header and
 * TLS verification still use the name.
 */
function destination(url: string, headers: Headers | Record<string, string>, address: string): Destination {
  const to = new URL(url);
  const named = new Headers(headers);
  named.set("host", to.host);
  const serverName = to.hostname.replace(/\.$/, "");
  to.hostname = isIP(address) === 6 ? `[${address}]` : address;
  return { url: to.href, address, headers: named, ...WITHOUT_PROXY, ...(to.protocol === "https:" ? { tls: { serverName } } : {}) };
}

/** The targets to try, in order; throws if any address is private. */
export async function publicDestinations(
  url: string,
  headers: Headers | Record<string, string>,
  { resolve = systemResolve, isDenied = isPrivateAddress, isLeftToProxy = () => false }: AddressChecks,
  answering: AnsweringFirst,
): Promise<Destination[]> {
  const to = new URL(url);
  const { hostname } = to;
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const isAddress = isIP(host) !== 0;
  if (!isAddress && !LOCAL_NAME.test(host) && isLeftToProxy(to)) return [{ url, headers }];
  const addresses = isAddress ? [host] : await resolve(host);
  if (addresses.length === 0 || addresses.some(isDenied)) throw new OutboundDenied(`${host} is in a private address range`);
  // A proxy resolves hosts itself, and may accept them only by name.
  if (isAddress || goesByProxy(to)) return [{ url, headers }];
  // IPv4 first: if one address family is unreachable, it is usually IPv6.
  const sorted = addresses.toSorted((one, other) => isIP(one) - isIP(other));
  return (await answering.order(sorted, portOf(to))).map((address) => destination(url, headers, address));
}
