import { isSameSecret, type SecretBox } from "../../kernel/secrets.ts";

/** What a signed address grants: one file of one tenant, until it expires. */
interface Signed {
  readonly tenantId: string;
  readonly id: string;
  /** Seconds since the Unix epoch, as written in the address. */
  readonly expires: string;
}

type Secrets = Pick<SecretBox, "hmac">;

/** Length of the part that verifies an address before the file's tenant is known. */
const ISSUED_BYTES = 18;

function signatureOf(secrets: Secrets, { tenantId, id, expires }: Signed): string {
  const signed = Buffer.from(secrets.hmac("signed file address", `${tenantId}\n${id}\n${expires}`), "hex");
  return issuedPart(secrets, id, expires) + signed.toString("base64url");
}

function issuedPart(secrets: Secrets, id: string, expires: string): string {
  const issued = Buffer.from(secrets.hmac("issued file address", `${id}\n${expires}`), "hex");
  return issued.subarray(0, ISSUED_BYTES).toString("base64url");
}

/** Whether this gateway issued the address. Needs no database, so forged addresses are rejected cheaply. */
export function isIssued(secrets: Secrets, { id, expires }: Omit<Signed, "tenantId">, signature: string, nowMs: number): boolean {
  const own = issuedPart(secrets, id, expires);
  return isSameSecret(signature.slice(0, own.length), own) && isOpen(expires, nowMs);
}

export function signedPath(secrets: Secrets, tenantId: string, id: string, expiresAt: number): string {
  const expires = String(expiresAt);
  return `/v1/proxy/files/${id}/content?expires=${expires}&signature=${signatureOf(secrets, { tenantId, id, expires })}`;
}

/** Compared as text, because different base64url texts can decode to the same bytes. */
export function isSigned(secrets: Secrets, signed: Signed, signature: string, nowMs: number): boolean {
  return isSameSecret(signature, signatureOf(secrets, signed)) && isOpen(signed.expires, nowMs);
}

function isOpen(expires: string, nowMs: number): boolean {
  return /^[0-9]{1,12}$/.test(expires) && Number(expires) * 1000 > nowMs;
}
