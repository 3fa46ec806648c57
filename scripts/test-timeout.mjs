/** Catches tests that hang. Tests that are merely slow on a loaded machine must pass. */
export const TIMEOUT_MS = 120_000;
