const strong = (tag: string): string => tag.trim().replace(/^W\//, "");

/** Whether an If-None-Match header matches the tag. Weak comparison (RFC 9110, 13.1.2), because compressing proxies make tags weak. */
export function namesTag(header: string, tag: string): boolean {
  return header.trim() === "*" || header.split(",").some((one) => strong(one) === strong(tag));
}
