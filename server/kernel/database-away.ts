/** Codes of connections that failed or were lost; ENOENT is for a missing socket. */
const CONNECTION = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENOENT",
  // An invalid certificate, for example one that has expired.
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);
/**
 * SQLSTATE: connection exceptions; a rejected user, password or database, as while these are being changed; a server that is shutting down,
 * crashed or starting up; and one that accepts no more connections or, as a standby or with a full disk, no writes.
 */
const STATE = /^(?:08...|28...|3D000|57P0[1-4]|53[13]00|25006)$/;
/** Messages of driver errors that have no code. */
const WORDS =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed) and is not queryable)/;

/** Whether the error means that the database is unavailable, rather than that the statement was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? WORDS.test(error.message) : CONNECTION.has(code) || STATE.test(code);
}
