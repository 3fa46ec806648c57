/** The answers to an identity provider that signs a user out (OpenID Connect Back-Channel Logout 1.0, 2.8). */

const HEADERS = { "cache-control": "no-store", "content-type": "application/json" } as const;

export const SIGNED_OUT = { status: 200, headers: HEADERS, body: "{}" } as const;

export function notSignedOut(reason: string) {
  return { status: 400, headers: HEADERS, body: JSON.stringify({ error: "invalid_request", error_description: reason }) };
}
