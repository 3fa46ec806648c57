/**
 * What fails through the gateway where it passes without it, by revision and dialect of the server. It may only get
 * shorter. A handshake server gives what it asks for no name, so a stateless client is not asked under the one that a
 * stateless server would give.
 */
export const EXPECTED_FAILURES: Readonly<Record<string, readonly string[]>> = {
  "2026-07-28 handshake": ["input-required-result-basic-elicitation"],
};
