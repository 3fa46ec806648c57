/** Whether a host is the domain or one of its subdomains; both in lower-case ASCII. */
export function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** The host in the form of domain lists: without a trailing dot, and IPv6 addresses without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
