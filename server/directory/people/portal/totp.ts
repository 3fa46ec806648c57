import { Secret, TOTP } from "otpauth";

const PERIOD_SECONDS = 30;
/** Steps to either side that a clock may be off. */
const WINDOW = 1;

function totpOf(secret: string, username = ""): TOTP {
  return new TOTP({
    issuer: "Gatehouse",
    label: username,
    algorithm: "SHA1",
    digits: 6,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });
}

/** A new secret of 160 bits, in base32. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** The address authenticator apps read, as text or as QR code. */
export function otpauthUrl(secret: string, username: string): string {
  return totpOf(secret, username).toString();
}

/** The time step a code belongs to; null when it is of none that counts at `now` (milliseconds). A step must be taken only once. */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}
