/** Whether a host is a domain or stands below it; both in lower-case ASCII. */
export function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** The host as domain lists name it: without a dot at its end, an address of IPv6 without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
