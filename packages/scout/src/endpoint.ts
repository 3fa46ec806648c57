/** Paths of the gateway under which its tool servers are called. */
const GATEWAY_PATH = /^\/v1\/proxy\/v?mcp\/[A-Za-z0-9._-]{1,100}\/?$/;

/**
 * What is told of an address: its origin, and of one of the gateway's the path that names the tool server. Whatever else stands
 * in an address may be a secret. Null for what is no web address, or has a variable in it.
 */
export function toldEndpoint(text: unknown, gatewayOrigins: ReadonlySet<string>): string | null {
  if (typeof text !== "string" || hasVariable(text) || !URL.canParse(text)) return null;
  const { protocol, origin, pathname } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:") return null;
  return gatewayOrigins.has(origin) && GATEWAY_PATH.test(pathname) ? origin + pathname : origin;
}

/** `${NAME}`, `${env:NAME}`, `$NAME`, `{env:NAME}` or `{{ name }}`: who fills it in is not known. */
export const hasVariable = (text: string): boolean => /\$\{|\$[A-Za-z_]|\{\{|\{env:/.test(text);

export const isRemoteAddress = (text: unknown): text is string => typeof text === "string" && /^https?:\/\//i.test(text);
