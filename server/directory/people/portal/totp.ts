import { Secret, TOTP } from "otpauth";

const PERIOD_SECONDS = 30;
/** How many time steps a clock may be off in either direction. */
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

/** The URL that authenticator apps import, as text or QR code. */
export function otpauthUrl(secret: string, username: string): string {
  return totpOf(secret, username).toString();
}

/** The time step of a code; null if it is not valid at `now` (epoch milliseconds). The caller must accept each step only once. */
export function stepOfCode(secret: string, code: string, now: number): number | null {
  if (!/^\d{6}$/.test(code)) return null;
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / 1000 / PERIOD_SECONDS) + delta;
}
