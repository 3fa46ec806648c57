import { BoundedMap } from "../../directory/bounded-map.ts";

const SECRET_NAME = /auth|token|secret|key|cookie|password|credential|signature|jwt|assertion|oidc-data/i;
/** Headers that repeat the body of a tool server message, which would bypass its redaction. */
const REPEATS_BODY = /^mcp-(?:name|method|param-.*)$/i;
/** The query or fragment of a URL may contain a code or token. */
const HOLDS_ADDRESS = /^(?:location|referer|x-goog-upload-url)$/i;
/** API keys and JWTs: proxies in front of the gateway forward them under header names of their own. */
const SECRET_VALUE = /sk_gw_api_[A-Za-z0-9_-]+|\beyJ[A-Za-z0-9_-]{6,}(?:={0,2}\.[A-Za-z0-9_-]{6,}={0,2}\.[A-Za-z0-9_-]+={0,2})?/g;
/** Matched and kept as it is: otherwise a crafted value with a thousand such prefixes would be scanned to its end for each. */
const NO_TOKEN = /^eyJ[^.]*$/;
const MAX_VALUE = 1024;

const secretNames = new BoundedMap<string, boolean>(1_000);

function isSecret(name: string): boolean {
  let secret = secretNames.get(name);
  if (secret === undefined) {
    secret = SECRET_NAME.test(name) || REPEATS_BODY.test(name);
    secretNames.set(name, secret);
  }
  return secret;
}

/** Headers as an audit row may store them: those whose names suggest a credential are dropped. */
export function sanitisedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    if (isSecret(name)) continue;
    const value = headers[name] as string;
    const recordedValue = HOLDS_ADDRESS.test(name) ? (value.split(/[?#]/)[0] as string) : value;
    // Redact before truncating: a truncated token would no longer be recognised.
    const shown =
      recordedValue.includes("sk_gw_api_") || recordedValue.includes("eyJ")
        ? recordedValue.replace(SECRET_VALUE, (found) => (NO_TOKEN.test(found) ? found : "[secret]"))
        : recordedValue;
    kept[name] = shown.length > MAX_VALUE ? shown.slice(0, MAX_VALUE) : shown;
  }
  return kept;
}
