import type { SecretBox } from "../../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";

const text = new TextDecoder();

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
