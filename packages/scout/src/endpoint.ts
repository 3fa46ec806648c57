/** Paths of the gateway at which its tool servers are called. */
const GATEWAY_PATH = /^\/v1\/proxy\/v?mcp\/[A-Za-z0-9._-]{1,100}\/?$/;

/**
 * The reportable part of an address: its origin, and for the gateway's own addresses the path that names the tool server. Everything else
 * may be secret. Null if it is not a web address or contains a variable.
 */
export function reportedEndpoint(text: unknown, gatewayOrigins: ReadonlySet<string>): string | null {
  if (typeof text !== "string" || hasVariable(text) || !URL.canParse(text)) return null;
  const { protocol, origin, pathname } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return null;
  return gatewayOrigins.has(origin) && GATEWAY_PATH.test(pathname) ? origin + pathname : origin;
}

/** `${NAME}`, `${env:NAME}`, `$NAME`, `{env:NAME}` or `{{ name }}`: its value is unknown. */
export const hasVariable = (text: string): boolean => /\$\{|\$[A-Za-z_]|\{\{|\{env:/.test(text);

export const isRemoteAddress = (text: unknown): text is string => typeof text === "string" && /^https?:\/\//i.test(text);
