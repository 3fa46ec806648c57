/** Of connections that could not be made or were lost; ENOENT is that of a socket. */
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
  // A certificate that cannot be relied on, such as one that ended meanwhile.
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);
/**
 * SQLSTATE: connection exceptions, a connection that is refused its user, password or database, as while those are changed, a server that
 * shuts down, crashed or starts up, and one that takes no more connections or, as a standby or on a full disk, no writes.
 */
const STATE = /^(?:08...|28...|3D000|57P0[1-4]|53[13]00|25006)$/;
/** Of the driver, which gives these no code. */
const WORDS =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client (?:has encountered a connection error|was closed) and is not queryable)/;

/** Whether what was thrown says that the database is away, and nothing about what it was asked. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? WORDS.test(error.message) : CONNECTION.has(code) || STATE.test(code);
}
