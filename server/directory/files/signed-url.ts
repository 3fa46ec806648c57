import { timingSafeEqual } from "node:crypto";
import type { SecretBox } from "../../kernel/secrets.ts";

/** What may be read without another credential: one file of one tenant, until then. */
interface Signed {
  readonly tenantId: string;
  readonly id: string;
  /** Seconds since the Unix epoch, as they stand in the address. */
  readonly expires: string;
}

function signatureOf(secrets: Pick<SecretBox, "hmac">, { tenantId, id, expires }: Signed): string {
  return Buffer.from(secrets.hmac("signed file address", `${tenantId}\n${id}\n${expires}`), "hex").toString("base64url");
}

export function signedPath(secrets: Pick<SecretBox, "hmac">, tenantId: string, id: string, expiresAt: number): string {
  const expires = String(expiresAt);
  return `/v1/proxy/files/${id}/content?expires=${expires}&signature=${signatureOf(secrets, { tenantId, id, expires })}`;
}

/** Compared as text: two texts of base64url can be the same bytes. */
export function isSigned(secrets: Pick<SecretBox, "hmac">, signed: Signed, signature: string, nowMs: number): boolean {
  const own = Buffer.from(signatureOf(secrets, signed));
  const shown = Buffer.from(signature);
  if (own.byteLength !== shown.byteLength || !timingSafeEqual(own, shown)) return false;
  return /^[0-9]{1,12}$/.test(signed.expires) && Number(signed.expires) * 1000 > nowMs;
}
