import { BoundedMap } from "../../directory/bounded-map.ts";

const SECRET_NAME = /auth|token|secret|key|cookie|password|credential|signature|jwt|assertion|oidc-data/i;
/** What repeats the body of a message to a tool server: it would keep what is redacted there. */
const REPEATS_BODY = /^mcp-(?:name|method|param-.*)$/i;
/** What an address carries behind its path may be a code or a token. */
const HOLDS_ADDRESS = /^(?:location|referer|x-goog-upload-url)$/i;
/** API keys, and signed tokens: proxies before the gateway hand them on under names of their own. */
const SECRET_VALUE = /sk_gw_api_[A-Za-z0-9_-]+|\beyJ[A-Za-z0-9_-]{6,}(?:={0,2}\.[A-Za-z0-9_-]{6,}={0,2}\.[A-Za-z0-9_-]+={0,2})?/g;
/** Matched and left as it is: a stranger could have each of a thousand beginnings followed to the end of one value. */
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

/** Headers as an audit row may hold them: whatever a name says to be a credential is left out, whole. */
export function sanitisedHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    if (isSecret(name)) continue;
    const value = headers[name] as string;
    const told = HOLDS_ADDRESS.test(name) ? (value.split(/[?#]/)[0] as string) : value;
    // Before it is cut: what is left of a token would no longer look like one.
    const shown =
      told.includes("sk_gw_api_") || told.includes("eyJ")
        ? told.replace(SECRET_VALUE, (found) => (NO_TOKEN.test(found) ? found : "[secret]"))
        : told;
    kept[name] = shown.length > MAX_VALUE ? shown.slice(0, MAX_VALUE) : shown;
  }
  return kept;
}
