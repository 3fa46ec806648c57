/** The parameters of a `WWW-Authenticate: Bearer` header (RFC 6750, RFC 9728). */
export interface Challenge {
  readonly error: string | null;
  readonly scope: string | null;
  readonly resourceMetadata: string | null;
}

const MAX = 8_192;

/** Null if the header contains no Bearer challenge. */
export function readChallenge(header: string | null): Challenge | null {
  if (header === null || header.length > MAX) return null;
  const start = /(?:^|,\s*)bearer(?=\s|$|,)/i.exec(header);
  if (start === null) return null;
  const rest = header.slice(start.index + start[0].length);
  const found = new Map<string, string>();
  for (const [, name, quoted, plain] of rest.matchAll(/(?<![a-z_])([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi)) {
    const key = (name as string).toLowerCase();
    if (!found.has(key)) found.set(key, quoted === undefined ? (plain ?? "") : quoted.replaceAll(/\\(.)/g, "$1"));
  }
  return { error: found.get("error") ?? null, scope: found.get("scope") ?? null, resourceMetadata: found.get("resource_metadata") ?? null };
}

/** The header value; null members are left out. */
export function writeChallenge({ error, scope, resourceMetadata }: Challenge): string {
  const members = [
    ["error", error],
    ["scope", scope],
    ["resource_metadata", resourceMetadata],
  ] as const;
  const written = members.flatMap(([name, value]) =>
    value === null ? [] : [`${name}="${value.replaceAll(/[^\x20-\x7e]/g, "").replaceAll(/["\\]/g, "")}"`],
  );
  return written.length === 0 ? "Bearer" : `Bearer ${written.join(", ")}`;
}

/** The distinct valid scopes of a space-separated list, in order. */
export function parseScopes(list: string | null | undefined): string[] {
  return [...new Set((list ?? "").split(" ").filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(scope)))].slice(0, 100);
}
