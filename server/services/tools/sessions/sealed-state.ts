import type { SecretBox } from "../../../kernel/secrets.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";

const text = new TextDecoder();

/** Encrypts a value so that only this gateway can read it. */
export function sealState(secrets: SecretBox, purpose: string, owner: string, value: JsonObject): string {
  return `g.${Buffer.from(secrets.seal(JSON.stringify(value), `${purpose}\n${owner}`)).toString("base64url")}`;
}

/** Null if this gateway did not seal the text for this purpose and owner. */
export function openState(secrets: SecretBox, purpose: string, owner: string, token: string): JsonObject | null {
  const [kind, body, ...rest] = token.split(".");
  if (kind !== "g" || body === undefined || rest.length > 0) return null;
  try {
    const inner = text.decode(Buffer.from(body, "base64url"));
    // Base64 decoders tolerate trailing characters, so require exactly the text that was issued.
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
