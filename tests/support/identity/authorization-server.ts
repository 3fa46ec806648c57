import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Provider } from "oidc-provider";
import { startHandshakeServer, startStatelessServer } from "../tool-servers/tool-servers.ts";

/** An independent authorization server (the npm package oidc-provider) with its own login and consent pages. */
export interface AuthorizationServerFixture {
  readonly issuer: string;
  /** Requests received: method, path and the decoded form or query. */
  readonly seen: { readonly method: string; readonly path: string; readonly values: Record<string, string> }[];
  /** Whom and what a token was issued for; null if it is invalid. */
  check(token: string): Promise<{ account: string; audience: string; scopes: string[]; clientId: string } | null>;
  /** Lifetime of access tokens issued from now on, in seconds. */
  accessSeconds: number;
  /** Number of upcoming token requests to answer with 503. */
  failTokens: number;
  stop(): Promise<void>;
}

export interface AuthorizationServerOptions {
  /** Resources it issues tokens for. */
  readonly resources: () => readonly string[];
  readonly registration?: boolean;
  readonly clients?: readonly Record<string, unknown>[];
}

const SCOPES = ["openid", "offline_access", "tools:read", "tools:write"];

export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServerFixture> {
  const http: Server = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const seen: { method: string; path: string; values: Record<string, string> }[] = [];
  const fixture = { accessSeconds: 3600, failTokens: 0 };
  const provider = new Provider(issuer, {
    clients: [...(options.clients ?? [])],
    cookies: { keys: ["test"] },
    scopes: SCOPES,
    pkce: { required: () => true },
    findAccount: (_ctx: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx: unknown, client: any, code: any) =>
      client.grantTypeAllowed("refresh_token") && code.scopes.has("offline_access"),
    ttl: { AccessToken: () => fixture.accessSeconds, RefreshToken: 86_400, Session: 86_400, Grant: 86_400, Interaction: 600 },
    features: {
      registration: { enabled: options.registration ?? true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx: unknown, resource: string) => {
          if (!options.resources().includes(resource))
            throw Object.assign(new Error("invalid_target"), { error: "invalid_target", status: 400, statusCode: 400, expose: true });
          return { scope: SCOPES.join(" "), accessTokenFormat: "opaque" };
        },
      },
    },
  });
  const answer = provider.callback();
  http.on("request", (request, response) => {
    const url = new URL(request.url ?? "/", issuer);
    const entry = { method: request.method ?? "", path: url.pathname, values: Object.fromEntries(url.searchParams) };
    seen.push(entry);
    if (url.pathname === "/token" && fixture.failTokens > 0) {
      fixture.failTokens--;
      response.writeHead(503).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => Object.assign(entry.values, Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()))));
    void answer(request, response);
  });
  return {
    issuer,
    seen,
    async check(token) {
      const found = await provider.AccessToken.find(token);
      if (found === undefined || found.isExpired) return null;
      return {
        account: found.accountId,
        audience: String(found.aud),
        scopes: String(found.scope ?? "").split(" "),
        clientId: found.clientId,
      };
    },
    get accessSeconds() {
      return fixture.accessSeconds;
    },
    set accessSeconds(value) {
      fixture.accessSeconds = value;
    },
    get failTokens() {
      return fixture.failTokens;
    },
    set failTokens(value) {
      fixture.failTokens = value;
    },
    stop: () =>
      new Promise<void>((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}

/** A tool server that requires an issuer's token. */
export interface ProtectedServerFixture {
  readonly baseUrl: string;
  /** Authenticated calls: method, and the account and token they used. */
  readonly callers: { readonly method: string; readonly account: string; readonly token: string }[];
  /** Tokens that were rejected. */
  readonly refused: string[];
  /** Methods that need `tools:write`. */
  readonly writing: Set<string>;
  /** Its protected resource metadata; replace members to make it lie. */
  document: Record<string, unknown>;
  stop(): Promise<void>;
}

export function startProtectedServer(dialect: "handshake" | "stateless", at: () => AuthorizationServerFixture): ProtectedServerFixture {
  const inner = dialect === "handshake" ? startHandshakeServer() : startStatelessServer();
  const callers: ProtectedServerFixture["callers"] = [];
  const refused: string[] = [];
  const writing = new Set<string>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url);
      if (url.pathname === "/.well-known/oauth-protected-resource/mcp")
        return Response.json({
          resource: `${url.origin}/mcp`,
          authorization_servers: [at().issuer],
          scopes_supported: ["tools:read"],
          ...fixture.document,
        });
      if (url.pathname !== "/mcp") return new Response(null, { status: 404 });
      const metadata = `resource_metadata="${url.origin}/.well-known/oauth-protected-resource/mcp"`;
      const token = request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
      const holder = token === "" ? null : await at().check(token);
      if (holder === null || holder.audience !== `${url.origin}/mcp`) {
        if (token !== "") refused.push(token);
        return new Response(null, { status: 401, headers: { "www-authenticate": `Bearer ${metadata}, scope="tools:read"` } });
      }
      const body = await request.text();
      const method = body === "" ? request.method : String(JSON.parse(body).params?.name ?? JSON.parse(body).method);
      if (writing.has(method) && !holder.scopes.includes("tools:write"))
        return new Response(null, {
          status: 403,
          headers: { "www-authenticate": `Bearer error="insufficient_scope", scope="tools:write", ${metadata}` },
        });
      callers.push({ method, account: holder.account, token });
      const headers = new Headers(request.headers);
      headers.delete("authorization");
      headers.delete("host");
      return fetch(inner.baseUrl + url.pathname, {
        method: request.method,
        headers,
        signal: request.signal,
        ...(body === "" ? {} : { body }),
      });
    },
  });
  const fixture: ProtectedServerFixture = {
    baseUrl: `http://127.0.0.1:${server.port}`,
    callers,
    refused,
    writing,
    document: {},
    async stop() {
      await server.stop(true);
      await inner.stop();
    },
  };
  return fixture;
}
