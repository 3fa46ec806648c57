/**
 * Scenarios that fail through the gateway but pass without it, by revision and the server's dialect. This list may only get shorter. A
 * handshake server does not name its input requests, so a stateless client cannot get them under the names that a stateless server would
 * use.
 */
export const EXPECTED_FAILURES: Readonly<Record<string, readonly string[]>> = {
  "2026-07-28 handshake": ["input-required-result-basic-elicitation"],
};
