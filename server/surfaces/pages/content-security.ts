/** The policy of every page of the apps: nothing from another host, no code that the build did not write, no embedding in frames. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "object-src 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** Hosts that a tool's user interface may reach: for requests, and for images, scripts, styles, fonts and audio. */
export interface AppDomains {
  readonly connect: readonly string[];
  readonly resource: readonly string[];
}

/**
 * The policy of the frame for tool servers' user interfaces. The response itself sandboxes it, whoever embeds it: its origin is opaque, so
 * nothing in it reaches the portal's storage, cookies or API. Scripts may run; network access is limited to the domains.
 */
export function sandboxPolicy({ connect, resource }: AppDomains): string {
  const from = (...sources: readonly string[]) => [...sources, ...resource].join(" ");
  return [
    "default-src 'none'",
    `script-src ${from("'unsafe-inline'")}`,
    `style-src ${from("'unsafe-inline'")}`,
    `img-src ${from("data:", "blob:")}`,
    `font-src ${from("data:")}`,
    `media-src ${from("data:", "blob:")}`,
    ...(connect.length === 0 ? [] : [`connect-src ${connect.join(" ")}`]),
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ].join("; ");
}
