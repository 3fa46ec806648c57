import { timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";

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

const MAC = /^[0-9a-f]{64}$/;

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
  if (shows === undefined || id === undefined || mac === undefined || !MAC.test(mac)) return null;
  const expected = secrets.hmac("mcp-session", `${kind}\n${owner}\n${id}`);
  return timingSafeEqual(Buffer.from(mac), Buffer.from(expected)) ? { id: text.decode(Buffer.from(id, "base64url")), shows } : null;
}

/** Something this gateway will read back, and nobody else can. */
export function sealState(secrets: SecretBox, purpose: string, owner: string, value: JsonObject): string {
  return `g.${Buffer.from(secrets.seal(JSON.stringify(value), `${purpose}\n${owner}`)).toString("base64url")}`;
}

/** Null for what this gateway did not seal for this purpose and owner. */
export function openState(secrets: SecretBox, purpose: string, owner: string, token: string): JsonObject | null {
  const [kind, body, ...rest] = token.split(".");
  if (kind !== "g" || body === undefined || rest.length > 0) return null;
  try {
    const inner = text.decode(Buffer.from(body, "base64url"));
    // Decoders pass over what follows the end: only the very text that was given counts.
    if (
      Buffer.from(inner).toString("base64url") !== body ||
      !inner
        .split(".")
        .slice(1)
        .every((part) => Buffer.from(part, "base64").toString("base64") === part)
    )
      return null;
    const value: unknown = JSON.parse(secrets.open(inner, `${purpose}\n${owner}`));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
