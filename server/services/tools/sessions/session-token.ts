import { isSameSecret, type SecretBox } from "../../../kernel/secrets.ts";

/**
 * Session IDs as issued to callers. They contain the whole session, so that any process can serve it, and are bound to caller and server,
 * so that nobody else can use them.
 */

const text = new TextDecoder();

/** What the session's client supports: app interfaces, and URL elicitation. */
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

/** Wraps the tool server's own session ID. */
export function passedSession(secrets: SecretBox, owner: string, upstreamId: string, { apps, addresses }: ClientSupport): string {
  const id = Buffer.from(upstreamId).toString("base64url");
  const kind = addresses ? (apps ? "b" : "u") : apps ? "a" : "p";
  return `${kind}.${id}.${secrets.proofs("mcp-session", `${kind}\n${owner}\n${id}`)[0]}`;
}

/** The tool server's own session ID; null if the token does not belong to this caller. */
export function upstreamSession(
  secrets: SecretBox,
  owner: string,
  token: string,
): { readonly id: string; readonly shows: ClientSupport } | null {
  const [kind = "", id, mac] = token.split(".");
  const shows = Object.hasOwn(KINDS, kind) ? KINDS[kind] : undefined;
  if (shows === undefined || id === undefined || mac === undefined) return null;
  const proofs = secrets.proofs("mcp-session", `${kind}\n${owner}\n${id}`);
  return proofs.some((proof) => isSameSecret(mac, proof)) ? { id: text.decode(Buffer.from(id, "base64url")), shows } : null;
}
