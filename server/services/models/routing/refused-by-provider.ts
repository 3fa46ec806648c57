/** A provider's refusal as an OpenAI error; the provider's own message would be in a format callers do not know. */
export function refusedByProvider(status: number): Uint8Array {
  const message = `The model's provider refused the request (HTTP ${status}).`;
  return new TextEncoder().encode(JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } }));
}
