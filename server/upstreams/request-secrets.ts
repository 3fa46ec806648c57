/** Shorter values occur in ordinary text and must not be redacted. */
const SHORTEST = 8;
const SECRET_NAME = /auth|key|token|secret|cookie|password|credential|signature/i;
/** Headers with tool arguments, and those that only identify requests. */
const NO_SECRET = /^(?:mcp-|idempotency-key$)/i;

/** The secrets among a request's headers, in each form in which an upstream may quote them. */
export function secretsOf(headers: Readonly<Record<string, string>>): readonly Buffer[] {
  const secrets: Buffer[] = [];
  for (const name in headers) {
    if (!namesSecret(name)) continue;
    const value = headers[name] as string;
    const credential = value.slice(value.lastIndexOf(" ") + 1);
    if (credential.length < SHORTEST) continue;
    secrets.push(Buffer.from(credential));
    // Some JSON writers escape slashes.
    if (credential.includes("/")) secrets.push(Buffer.from(credential.replaceAll("/", "\\/")));
  }
  return secrets;
}

const answeredBefore = new Map<string, boolean>();
const MAX_NAMES = 1_000;

/** Cached by name, because every call has the same few headers. */
function namesSecret(name: string): boolean {
  const known = answeredBefore.get(name);
  if (known !== undefined) return known;
  const found = SECRET_NAME.test(name) && !NO_SECRET.test(name);
  if (answeredBefore.size < MAX_NAMES) answeredBefore.set(name, found);
  return found;
}
