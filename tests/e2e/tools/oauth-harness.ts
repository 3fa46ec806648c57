import { ScriptedBrowser } from "../../support/identity/browser.ts";
import { post, stateless } from "./mcp-harness.ts";

/** The redirect URI of these tests' clients; nothing listens there. */
export const RETURN = "http://127.0.0.1:1/callback";

/** The state of a client without an SDK after it has registered and asked the browser to authorize. */
export interface Begun {
  readonly broker: string;
  readonly clientId: string;
  readonly verifier: string;
  authorizeUrl(values?: Record<string, string>): string;
  redeem(code: string, values?: Record<string, string>, headers?: Record<string, string>): Promise<{ status: number; body: any }>;
}

export async function begunAt(gateway: string, id: string, apiKey: string, redirectUri = RETURN, at?: string): Promise<Begun> {
  const server = `${gateway}/v1/proxy/mcp/${id}`;
  const resource = (await (await fetch(`${server}/.well-known/oauth-protected-resource`)).json()) as any;
  const broker = at ?? (resource.authorization_servers[0] as string);
  const registered = await fetch(`${broker}/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Hand made", redirect_uris: [redirectUri] }),
  });
  const { client_id: clientId } = (await registered.json()) as any;
  const verifier = "v".repeat(43);
  const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
  return {
    broker,
    clientId,
    verifier,
    authorizeUrl: (values = {}) =>
      `${broker}/authorize?${new URLSearchParams({ response_type: "code", client_id: clientId, redirect_uri: redirectUri, state: "s", code_challenge: challenge, code_challenge_method: "S256", resource: server, ...values })}`,
    async redeem(code, values = {}, headers = { "x-api-key": apiKey }) {
      const response = await fetch(`${broker}/token`, {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
        body: new URLSearchParams({
          grant_type: "authorization_code",
          code,
          client_id: clientId,
          redirect_uri: redirectUri,
          code_verifier: verifier,
          ...values,
        }).toString(),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

export async function codeFor(client: Begun, account: string, apiKey = ""): Promise<string> {
  const { url, page } = await new ScriptedBrowser(account, apiKey).walk(client.authorizeUrl(), RETURN);
  const code = url.searchParams.get("code");
  if (code === null) throw new Error(`no code: ${url.href} ${page}`);
  return code;
}

/** Calls a tool of a stateless server with only the given headers. */
export const echoAt = (url: string, headers: Record<string, string>) =>
  post(url, "", stateless(1, "tools/call", { name: "echo", arguments: { text: "hi" } }), {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "echo",
    ...headers,
  });
