import { setTimeout as delay } from "node:timers/promises";
import { isDatabaseAway } from "../../kernel/database-away.ts";
import { uuid } from "../../kernel/ids.ts";
import { type OAuthTokenOwner, oauthTokenContext } from "../../kernel/seal-contexts.ts";
import { recordChanges } from "../../store/records/record-changes.ts";
import type { Trx } from "../../store/database.ts";
import {
  beginRenewal,
  abandonRenewal,
  issuersOf,
  lockedToken,
  newestToken,
  pruneOrphanTokens,
  type OAuthPrincipal,
  type OAuthTokenRow,
  putToken,
  RENEWAL_SECONDS,
  removeToken,
  tokenById,
  tokensOf,
} from "../../store/tools/oauth-tokens.ts";
import { grantsOfToken } from "../../store/tools/oauth-client-grants.ts";
import type { Directory } from "../writes/write.ts";
import { issuerId } from "./issuer-id.ts";

/** The user or key on whose behalf a tool server is called. */
export type Principal = OAuthPrincipal;

type Parts = Pick<Directory, "db" | "secrets" | "clock">;

/** The tokens issued by an authorization server. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly scopes: readonly string[];
  /** Epoch milliseconds; null if the issuer did not say. */
  readonly expiresAt: number | null;
}

/** A principal's tokens for one tool server, decrypted; held only in memory. */
export interface StoredTokens extends IssuedTokens {
  readonly id: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  /** The resource that the tokens are for; they are sent nowhere else. */
  readonly resource: string;
  /** When the account was connected, epoch milliseconds. Reconnecting may use a different account. */
  readonly connectedAt: number;
  /** Clients whose gateway tokens stand for these tokens. */
  readonly grants: ReadonlySet<string>;
}

/** Tokens without their secrets, for display. */
export interface TokenSummary {
  readonly id: string;
  readonly mcp_server_id: string;
  readonly issuer: string;
  readonly client_id: string;
  readonly resource: string;
  readonly scopes: string[];
  readonly has_refresh_token: boolean;
  readonly expires_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The reference in change notices to a principal's tokens for a server. */
export function tokenRef(principal: Principal, serverId: string): string {
  return `${principal.type}:${principal.id}:${serverId}`;
}

/** The reference in change notices to a server's authorization settings. */
export function serverRef(serverId: string): string {
  return `server:${serverId}`;
}

/** Null if they were encrypted with a different key; the owner must then reconnect. */
function opened(secrets: Parts["secrets"], row: OAuthTokenRow, grants: readonly string[]): StoredTokens | null {
  const accessToken = secrets.openOrNull(row.access_token_sealed, oauthTokenContext("access", row));
  if (accessToken === null) return null;
  return {
    id: row.id,
    issuer: row.issuer,
    clientId: row.client_id,
    redirectUri: row.redirect_uri,
    resource: row.resource,
    connectedAt: row.created_at.getTime(),
    accessToken,
    refreshToken: secrets.openOrNull(row.refresh_token_sealed, oauthTokenContext("refresh", row)),
    scopes: row.scopes,
    expiresAt: row.expires_at?.getTime() ?? null,
    grants: new Set(grants),
  };
}

/** Null if the principal has no tokens for the server that can be decrypted. */
export async function findTokens({ db, secrets }: Parts, principal: Principal, serverId: string): Promise<StoredTokens | null> {
  const row = await newestToken(db, principal, serverId);
  return row === undefined ? null : opened(secrets, row, await grantsOfToken(db, row.id));
}

export interface TokenTerms {
  readonly serverId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resource: string;
}

/** Stores tokens, replacing those that the principal had from this issuer for this server. Returns the row's ID. */
export async function storeTokens(
  { db, secrets, clock }: Parts,
  principal: Principal,
  terms: TokenTerms,
  given: IssuedTokens,
  also: (trx: Trx, id: string) => Promise<void> = async () => undefined,
): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const now = new Date(clock.now());
    const owner: OAuthTokenOwner = {
      tenant_id: principal.tenantId,
      principal_type: principal.type,
      principal_id: principal.id,
      mcp_server_id: terms.serverId,
      issuer: terms.issuer,
    };
    const row = await putToken(trx, {
      id: uuid(),
      ...owner,
      client_id: terms.clientId,
      redirect_uri: terms.redirectUri,
      resource: terms.resource,
      access_token_sealed: secrets.seal(given.accessToken, oauthTokenContext("access", owner)),
      refresh_token_sealed: given.refreshToken === null ? null : secrets.seal(given.refreshToken, oauthTokenContext("refresh", owner)),
      scopes: [...given.scopes],
      expires_at: given.expiresAt === null ? null : new Date(given.expiresAt),
      created_at: now,
      updated_at: now,
    });
    await also(trx, row.id);
    await recordChanges(trx, [{ tenant_id: principal.tenantId, topic: "oauth_tokens", ref: tokenRef(principal, terms.serverId) }]);
    return row.id;
  });
}

/** How often to check whether another process has renewed the tokens. */
const POLL_INTERVAL_MS = 100;

/** Waits until the tokens are this caller's to renew, or another has renewed them, and returns the current ones; null if they are gone. */
async function turnToRenew(
  { db, secrets }: Parts,
  tenantId: string,
  seen: StoredTokens,
  renewalId: string,
): Promise<{ tokens: StoredTokens; isOurs: boolean } | null> {
  for (;;) {
    const row = await tokenById(db, tenantId, seen.id);
    const tokens = row === undefined ? null : opened(secrets, row, [...seen.grants]);
    if (row === undefined || tokens === null) return null;
    if (tokens.accessToken !== seen.accessToken) return { tokens, isOurs: false };
    if (await beginRenewal(db, row, renewalId)) return { tokens, isOurs: true };
    await delay(POLL_INTERVAL_MS);
  }
}

/** Just before another process may take over the renewal. */
const STORED_WITHIN_MS = (RENEWAL_SECONDS - 1) * 1_000;

/** Retries while the database is unreachable: if a rotated refresh token is not stored, the account's connection is lost. */
async function untilStored<T>(until: number, store: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() >= until) throw error;
    }
    await delay(POLL_INTERVAL_MS);
  }
}

/**
 * Replaces the tokens with the result of `refresh`, while no other process does so; holds no connection meanwhile. Does
 * not call `refresh` if the tokens were already renewed since `seen`. If it returns null nothing changes; `gone` deletes
 * them. An account reconnected meanwhile is kept, and for one disconnected meanwhile the result is null.
 */
export async function renewTokens(
  parts: Parts,
  principal: Principal,
  serverId: string,
  seen: StoredTokens,
  refresh: (now: StoredTokens) => Promise<IssuedTokens | "gone" | null>,
): Promise<StoredTokens | null> {
  const { db, secrets, clock } = parts;
  const renewalId = uuid();
  const turn = await turnToRenew(parts, principal.tenantId, seen, renewalId);
  if (turn === null || !turn.isOurs) return turn?.tokens ?? null;
  const until = performance.now() + STORED_WITHIN_MS;
  let given: IssuedTokens | "gone" | null = null;
  try {
    given = await refresh(turn.tokens);
  } finally {
    if (given === null) await abandonRenewal(db, renewalId, seen.id);
  }
  if (given === null) return turn.tokens;
  return untilStored(until, () =>
    db.transaction().execute(async (trx) => {
      const row = await lockedToken(trx, principal.tenantId, seen.id);
      if (row === undefined) return null;
      if (row.renewal_id !== renewalId) return opened(secrets, row, [...seen.grants]);
      if (given === "gone") await removeToken(trx, principal.tenantId, row.id);
      else {
        await putToken(trx, {
          ...row,
          access_token_sealed: secrets.seal(given.accessToken, oauthTokenContext("access", row)),
          refresh_token_sealed:
            given.refreshToken === null ? row.refresh_token_sealed : secrets.seal(given.refreshToken, oauthTokenContext("refresh", row)),
          scopes: given.scopes.length === 0 ? row.scopes : [...given.scopes],
          expires_at: given.expiresAt === null ? null : new Date(given.expiresAt),
          updated_at: new Date(clock.now()),
        });
      }
      await recordChanges(trx, [{ tenant_id: principal.tenantId, topic: "oauth_tokens", ref: tokenRef(principal, serverId) }]);
      const { tokens } = turn;
      return given === "gone"
        ? null
        : {
            ...tokens,
            ...given,
            refreshToken: given.refreshToken ?? tokens.refreshToken,
            scopes: given.scopes.length === 0 ? tokens.scopes : given.scopes,
          };
    }),
  );
}

/** The issuer with this ID, if the principal has tokens from it for the server. */
export async function issuerWithTokens({ db }: Parts, principal: Principal, serverId: string, idpId: string): Promise<string | null> {
  return (await issuersOf(db, principal, serverId)).find((issuer) => issuerId(issuer) === idpId) ?? null;
}

export async function listTokens({ db }: Parts, principal: Principal, serverId: string, issuer: string): Promise<TokenSummary[]> {
  return (await tokensOf(db, principal, serverId, issuer)).map(tokenSummary);
}

export function tokenSummary(row: OAuthTokenRow): TokenSummary {
  return {
    id: row.id,
    mcp_server_id: row.mcp_server_id,
    issuer: row.issuer,
    client_id: row.client_id,
    resource: row.resource,
    scopes: row.scopes,
    has_refresh_token: row.refresh_token_sealed !== null,
    expires_at: row.expires_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Removed tokens, decrypted so that they can be revoked at their issuer; null if they cannot be decrypted. */
export interface DroppedTokens {
  readonly tokens: StoredTokens | null;
}

/** Null if the principal had no such tokens from this issuer. */
export async function dropTokens(
  { db, secrets }: Parts,
  principal: Principal,
  serverId: string,
  issuer: string,
  id: string,
): Promise<DroppedTokens | null> {
  return db.transaction().execute(async (trx) => {
    const row = await lockedToken(trx, principal.tenantId, id);
    if (
      row === undefined ||
      row.principal_type !== principal.type ||
      row.principal_id !== principal.id ||
      row.mcp_server_id !== serverId ||
      row.issuer !== issuer
    )
      return null;
    const tokens = await dropLockedTokens({ secrets }, trx, row);
    await recordChanges(trx, [{ tenant_id: principal.tenantId, topic: "oauth_tokens", ref: tokenRef(principal, serverId) }]);
    return { tokens };
  });
}

/** For a transaction that has locked the row and announces the change itself. Null if the tokens cannot be decrypted. */
export async function dropLockedTokens({ secrets }: Pick<Parts, "secrets">, trx: Trx, row: OAuthTokenRow): Promise<StoredTokens | null> {
  await removeToken(trx, row.tenant_id, row.id);
  return opened(secrets, row, []);
}

/** Deleted tokens, and the server they were for. */
export interface OrphanTokens {
  readonly tenantId: string;
  readonly serverId: string;
  readonly tokens: StoredTokens;
}

/**
 * Deletes the tokens of principals that no longer exist. Returns those that can be decrypted, so that they can be revoked
 * at their issuer.
 */
export async function dropOrphanTokens({ db, secrets }: Pick<Parts, "db" | "secrets">): Promise<OrphanTokens[]> {
  return (await pruneOrphanTokens(db)).flatMap((row) => {
    const tokens = opened(secrets, row, []);
    return tokens === null ? [] : [{ tenantId: row.tenant_id, serverId: row.mcp_server_id, tokens }];
  });
}
