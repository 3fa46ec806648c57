/** A translated model's refusal in the shape of OpenAI's errors; the provider's own words are in a shape callers do not know. */
export function refusedByProvider(status: number): Uint8Array {
  const message = `The model's provider refused the request (HTTP ${status}).`;
  return new TextEncoder().encode(JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } }));
}
