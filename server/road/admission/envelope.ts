import type { SecretBox } from "../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../kernel/json-value.ts";

/** The purpose a sealed text is bound to, so that one never passes for another. */
export type Purpose = "client" | "connect" | "consent" | "state" | "code" | "access" | "refresh" | "input" | "approval" | "upload";

/**
 * A text that this gateway can read back and nobody else can read or make. `owner` names what it is good for (the
 * server and issuer); `until`, milliseconds since the epoch, when that ends, null for never.
 */
export function sealEnvelope(secrets: SecretBox, purpose: Purpose, owner: string, value: object, until: number | null): string {
  const text = secrets.seal(JSON.stringify(until === null ? value : { ...value, until }), `oauth-${purpose}\n${owner}`);
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Null for what was not sealed for this purpose and owner, or has ended. Whoever names `Sealed` is who seals for the purpose. */
export function openEnvelope<Sealed = JsonObject>(
  secrets: SecretBox,
  purpose: Purpose,
  owner: string,
  text: string,
  now: number,
): Sealed | null {
  // Decoders pass over what follows the end: only the very text that was given counts.
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
