import type { SecretBox } from "../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** The purpose a sealed text is bound to, so that it is never accepted for another. */
export type Purpose = "client" | "connect" | "consent" | "state" | "code" | "access" | "refresh" | "input" | "approval" | "upload";

/**
 * Encrypts a value so that only this gateway can read or create it. `owner`: what it is valid for (server and issuer). `until`: expiry in
 * milliseconds since the epoch; null for never.
 */
export function sealEnvelope(secrets: SecretBox, purpose: Purpose, owner: string, value: object, until: number | null): string {
  const text = secrets.seal(JSON.stringify(until === null ? value : { ...value, until }), `oauth-${purpose}\n${owner}`);
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/**
 * Null if the text was not sealed for this purpose and owner, or has expired. `Sealed` is the type sealed for the purpose; it is not
 * checked.
 */
export function openEnvelope<Sealed = JsonObject>(
  secrets: SecretBox,
  purpose: Purpose,
  owner: string,
  text: string,
  now: number,
): Sealed | null {
  // Base64 decoders ignore trailing characters: accept only the exact text that was issued.
  const [version, ...parts] = text.split(".");
  if (version !== "v1" || parts.length !== 2 || !parts.every((part) => Buffer.from(part, "base64url").toString("base64url") === part))
    return null;
  try {
    const value: unknown = JSON.parse(secrets.open(text, `oauth-${purpose}\n${owner}`));
    if (!isObject(value)) return null;
    return typeof value.until === "number" && value.until < now ? null : (value as Sealed);
  } catch {
    return null;
  }
}
