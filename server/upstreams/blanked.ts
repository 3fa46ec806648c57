/** A value that stands in ordinary texts must not be taken for a secret. */
const SHORTEST = 8;
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential|signature/i;
/** Arguments of tools, and what only tells requests apart. */
const NO_SECRET = /^(?:mcp-|idempotency-key$)/i;
const MASK = "*";

/** The secrets among the headers of a request, each as an upstream may quote it. */
export function secretsOf(headers: Readonly<Record<string, string>>): readonly Buffer[] {
  const secrets = new Set<string>();
  for (const name in headers) {
    if (!SECRET_NAME.test(name) || NO_SECRET.test(name)) continue;
    const value = headers[name] as string;
    const credential = value.slice(value.lastIndexOf(" ") + 1);
    if (credential.length < SHORTEST) continue;
    secrets.add(credential);
    // Some writers of JSON escape it.
    secrets.add(credential.replaceAll("/", "\\/"));
  }
  return [...secrets].map((secret) => Buffer.from(secret));
}

/**
 * The answer with the secrets blanked in its headers and its body, in as many characters as they had. Of a stream no
 * more is held back than an end that begins one of them.
 */
export function blanked(response: Response, secrets: readonly Buffer[]): Response {
  if (secrets.length === 0) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of response.headers) {
    const clean = secrets.reduce((text, secret) => text.replaceAll(secret.toString(), MASK.repeat(secret.length)), value);
    if (clean !== value) headers.set(name, clean);
  }
  if (response.body === null) return response;
  const reader = response.body.getReader();
  let held: Buffer = Buffer.alloc(0);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          if (done) {
            if (held.length > 0) controller.enqueue(held);
            controller.close();
            return;
          }
          const piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
          const bytes = blank(held.length === 0 ? piece : Buffer.concat([held, piece]), secrets);
          const end = bytes.length - beginning(bytes, secrets);
          held = Buffer.from(bytes.subarray(end));
          if (end === 0) continue;
          controller.enqueue(bytes.subarray(0, end));
          return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  const { status, statusText } = response;
  return new Response(body, { status, statusText, headers });
}

function blank(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  let clean = bytes;
  for (const secret of secrets)
    for (let at = clean.indexOf(secret); at >= 0; at = clean.indexOf(secret, at + secret.length)) {
      if (clean === bytes) clean = Buffer.from(bytes);
      clean.fill(MASK, at, at + secret.length);
    }
  return clean;
}

/** Length of the longest end that begins a secret. */
function beginning(bytes: Buffer, secrets: readonly Buffer[]): number {
  let longest = 0;
  for (const secret of secrets)
    for (let length = Math.min(secret.length - 1, bytes.length); length > longest; length--)
      if (bytes.compare(secret, 0, length, bytes.length - length) === 0) longest = length;
  return longest;
}
