/** What the runner gives each test and each hook that names no limit of its own, to find what hangs. */
const TEST_MS = Number(process.env["TEST_TIMEOUT_MS"] ?? 120_000);

/**
 * How long one wait inside a test may take. Merely slow passes, and what never comes fails with the wait's own words,
 * before the runner ends the test without any.
 */
export const PATIENCE_MS = TEST_MS / 2;

/** For a test that does what others do, hundreds of times. */
export const LONG_TEST_MS = 5 * TEST_MS;
