/** A value that stands in ordinary texts must not be taken for a secret. */
const SHORTEST = 8;
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential|signature/i;
/** Arguments of tools, and what only tells requests apart. */
const NO_SECRET = /^(?:mcp-|idempotency-key$)/i;

/** The secrets among the headers of a request, each as an upstream may quote it. */
export function secretsOf(headers: Readonly<Record<string, string>>): readonly Buffer[] {
  const secrets: Buffer[] = [];
  for (const name in headers) {
    if (!namesSecret(name)) continue;
    const value = headers[name] as string;
    const credential = value.slice(value.lastIndexOf(" ") + 1);
    if (credential.length < SHORTEST) continue;
    secrets.push(Buffer.from(credential));
    // Some writers of JSON escape it.
    if (credential.includes("/")) secrets.push(Buffer.from(credential.replaceAll("/", "\\/")));
  }
  return secrets;
}

const answeredBefore = new Map<string, boolean>();
const MOST_NAMES = 1_000;

/** Kept by name, since the same few come with every call. */
function namesSecret(name: string): boolean {
  const known = answeredBefore.get(name);
  if (known !== undefined) return known;
  const found = SECRET_NAME.test(name) && !NO_SECRET.test(name);
  if (answeredBefore.size < MOST_NAMES) answeredBefore.set(name, found);
  return found;
}
