import { isSameSecret, type SecretBox } from "../../kernel/secrets.ts";

/** What a signed address grants: one file of one tenant, until it expires. */
interface Signed {
  readonly tenantId: string;
  readonly id: string;
  /** Seconds since the Unix epoch, as written in the address. */
  readonly expires: string;
}

type Secrets = Pick<SecretBox, "proofs">;

/** Length of the part that verifies an address before the file's tenant is known. */
const ISSUED_BYTES = 18;

/** The first is for new addresses; the others, made with another secret key, are accepted too. */
function signaturesOf(secrets: Secrets, { tenantId, id, expires }: Signed): readonly string[] {
  const issued = issuedParts(secrets, id, expires);
  return secrets
    .proofs("signed file address", `${tenantId}\n${id}\n${expires}`)
    .map((signed, index) => `${issued[index]}${Buffer.from(signed, "hex").toString("base64url")}`);
}

function issuedParts(secrets: Secrets, id: string, expires: string): readonly string[] {
  return secrets
    .proofs("issued file address", `${id}\n${expires}`)
    .map((issued) => Buffer.from(issued, "hex").subarray(0, ISSUED_BYTES).toString("base64url"));
}

/** Whether this gateway issued the address. Needs no database, so forged addresses are rejected cheaply. */
export function isIssued(secrets: Secrets, { id, expires }: Omit<Signed, "tenantId">, signature: string, nowMs: number): boolean {
  const own = issuedParts(secrets, id, expires);
  return own.some((part) => isSameSecret(signature.slice(0, part.length), part)) && isOpen(expires, nowMs);
}

export function signedPath(secrets: Secrets, tenantId: string, id: string, expiresAt: number): string {
  const expires = String(expiresAt);
  return `/v1/proxy/files/${id}/content?expires=${expires}&signature=${signaturesOf(secrets, { tenantId, id, expires })[0]}`;
}

/** Compared as text, because different base64url texts can decode to the same bytes. */
export function isSigned(secrets: Secrets, signed: Signed, signature: string, nowMs: number): boolean {
  return signaturesOf(secrets, signed).some((own) => isSameSecret(signature, own)) && isOpen(signed.expires, nowMs);
}

function isOpen(expires: string, nowMs: number): boolean {
  return /^[0-9]{1,12}$/.test(expires) && Number(expires) * 1000 > nowMs;
}
