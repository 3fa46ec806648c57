import { isSameSecret, type SecretBox } from "../../../kernel/secrets.ts";

/**
 * Session ids as callers get them. They hold everything a session is, so that any process can answer, and are bound to
 * the caller and the server: one that is presented by anybody else is none.
 */

const text = new TextDecoder();

/** What the client that began a session can show: the interfaces of apps, and addresses to open. */
export interface ClientSupport {
  readonly apps: boolean;
  readonly addresses: boolean;
}

const KINDS: Readonly<Record<string, ClientSupport>> = {
  p: { apps: false, addresses: false },
  a: { apps: true, addresses: false },
  u: { apps: false, addresses: true },
  b: { apps: true, addresses: true },
};

/** A session of the tool server itself, passed on. */
export function passedSession(secrets: SecretBox, owner: string, upstreamId: string, { apps, addresses }: ClientSupport): string {
  const id = Buffer.from(upstreamId).toString("base64url");
  const kind = addresses ? (apps ? "b" : "u") : apps ? "a" : "p";
  return `${kind}.${id}.${secrets.hmac("mcp-session", `${kind}\n${owner}\n${id}`)}`;
}

/** The tool server's own id; null when the token is not this caller's. */
export function upstreamSession(
  secrets: SecretBox,
  owner: string,
  token: string,
): { readonly id: string; readonly shows: ClientSupport } | null {
  const [kind = "", id, mac] = token.split(".");
  const shows = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (shows === undefined || id === undefined || mac === undefined) return null;
  const expected = secrets.hmac("mcp-session", `${kind}\n${owner}\n${id}`);
  return isSameSecret(mac, expected) ? { id: text.decode(Buffer.from(id, "base64url")), shows } : null;
}
