const strong = (tag: string): string => tag.trim().replace(/^W\//, "");

/** Whether an If-None-Match header names the tag; a weak one is as good, which proxies that compress make of others (RFC 9110, 13.1.2). */
export function namesTag(header: string, tag: string): boolean {
  return header.trim() === "*" || header.split(",").some((one) => strong(one) === strong(tag));
}
