/** Finds what hangs. What is merely slow on a loaded machine must pass. */
export const TIMEOUT_MS = 120_000;
