/** The runner's timeout for tests and hooks without one of their own, to catch hangs. */
const TEST_MS = Number(process.env["TEST_TIMEOUT_MS"] ?? 120_000);

/**
 * Longest single wait inside a test. Slow operations pass, and what never happens fails with the wait's own message before the runner's
 * timeout.
 */
export const PATIENCE_MS = TEST_MS / 2;

/** For tests that repeat what others do hundreds of times. */
export const LONG_TEST_MS = 5 * TEST_MS;
