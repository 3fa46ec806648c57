import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import { isObject } from "../../kernel/json-value.ts";
import { readUpTo } from "../../wire/http/read-up-to.ts";
import type { AgentAddress } from "./agent-address.ts";
import type { AgentSend } from "./agent-send.ts";

const MAX_BYTES = 64 * 1024;
/** Tokens are renewed this long before they expire. */
const MARGIN_MS = 30_000;
const DEFAULT_SECONDS = 300;

interface Token {
  readonly text: string;
  readonly until: number;
}

/**
 * Credentials for agents: those on their records, or OAuth tokens, which are fetched and cached until they expire. Concurrent calls share
 * one token request.
 */
export class AgentAuthorization {
  private readonly tokens = new Map<string, Token | Promise<Token | Refusal>>();
  private readonly send: AgentSend;

  constructor(send: AgentSend) {
    this.send = send;
  }

  async headers({ authType, credentials, timeoutMs }: AgentAddress): Promise<Record<string, string> | Refusal> {
    const { value } = credentials;
    if (authType === "bearer" && value !== undefined) return { authorization: `Bearer ${value}` };
    if (authType === "api_key" && value !== undefined) return { [(credentials.header ?? "x-api-key").toLowerCase()]: value };
    if (authType !== "oauth_client") return {};
    const key = sha256Hex(JSON.stringify(credentials));
    const known = this.tokens.get(key);
    if (known !== undefined && (known instanceof Promise || known.until > Date.now())) return bearer(await known);
    const pendingToken = this.token(credentials, timeoutMs);
    this.tokens.set(key, pendingToken);
    const token = await pendingToken;
    if (isRefusal(token)) this.tokens.delete(key);
    else this.tokens.set(key, token);
    return bearer(token);
  }

  /** Drops the cached token that the agent refused. */
  refused({ credentials }: AgentAddress): void {
    this.tokens.delete(sha256Hex(JSON.stringify(credentials)));
  }

  private async token(credentials: AgentAddress["credentials"], timeoutMs: number): Promise<Token | Refusal> {
    const abort = new AbortController();
    // The timeout covers the whole answer, because every call to the agent waits for it.
    const timer = setTimeout(() => abort.abort(), timeoutMs);
    try {
      return await this.tokenWithin(abort, credentials, timeoutMs);
    } finally {
      clearTimeout(timer);
    }
  }

  private async tokenWithin(abort: AbortController, credentials: AgentAddress["credentials"], timeoutMs: number): Promise<Token | Refusal> {
    const { token_url: url = "", client_id: id = "", client_secret: secret = "", scope } = credentials;
    const response = await this.send({
      url,
      method: "POST",
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
      },
      body: new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) }).toString(),
      abort,
      timeoutMs,
    });
    if (isRefusal(response)) return response;
    const failed = (reason: string) => refuse("upstream_auth_failed", "The gateway got no token for the agent.", { reason });
    try {
      const bytes = await readUpTo(response.body, MAX_BYTES, abort.signal);
      if (abort.signal.aborted) return failed("the token did not come in time");
      const tokenResponse: unknown = JSON.parse(Buffer.from(bytes ?? []).toString());
      if (!response.ok || !isObject(tokenResponse) || typeof tokenResponse.access_token !== "string")
        return failed(`the token endpoint answered ${response.status}`);
      const seconds = typeof tokenResponse.expires_in === "number" ? tokenResponse.expires_in : DEFAULT_SECONDS;
      return { text: tokenResponse.access_token, until: Date.now() + seconds * 1000 - MARGIN_MS };
    } catch {
      return failed("the token endpoint's answer is not readable");
    }
  }
}

const bearer = (token: Token | Refusal): Record<string, string> | Refusal =>
  isRefusal(token) ? token : { authorization: `Bearer ${token.text}` };
