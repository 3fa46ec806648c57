/**
 * What fails through the gateway where it passes without it, by revision and dialect of the server. It may only get
 * shorter. A handshake server asks for one thing after the other and gives none of it a name, so a stateless client is
 * not asked for several at once, nor under the names a stateless server would give.
 */
export const EXPECTED_FAILURES: Readonly<Record<string, readonly string[]>> = {
  "2026-07-28 handshake": ["input-required-result-basic-elicitation", "input-required-result-multiple-input-requests"],
};
