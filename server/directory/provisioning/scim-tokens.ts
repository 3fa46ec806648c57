import { randomBytes } from "node:crypto";
import type { MintedScimToken, ScimToken, ScimTokenCreate, ScimTokenUpdate } from "@gatehouse/contracts/provisioning";
import { uuid } from "../../kernel/ids.ts";
import { sha256Hex } from "../../kernel/secrets.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { noteScimTokenUse, scimTokenByHash, scimTokenStore, type ScimTokenRow } from "../../store/provisioning/scim-tokens.ts";
import { hintOf, invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";

const RESOURCE = "scim-tokens";
const PREFIX = "gw_scim_";
const USE_NOTED_MS = 60_000;
const DEFAULT_DIRECTORY = "scim";

/** An authenticated directory and the permissions of its token. */
export interface ScimCaller {
  readonly tenantId: string;
  /** The directory's name as the source of memberships. */
  readonly source: string;
  readonly tokenId: string;
  readonly tokenName: string;
  readonly adoptExisting: boolean;
  readonly removeAllMembers: boolean;
}

function statusOf(row: ScimTokenRow, now: Date): ScimToken["status"] {
  if (row.revoked_at !== null) return "revoked";
  return row.expires_at !== null && row.expires_at <= now ? "expired" : "active";
}

function read(row: ScimTokenRow, now: Date): ScimToken {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    directory: row.source,
    token_hint: row.token_hint,
    status: statusOf(row, now),
    adopt_existing: row.adopt_existing,
    remove_all_members: row.remove_all_members,
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The caller of a bearer token; null if it is not valid. */
export async function scimCallerOf(directory: Directory, bearer: string): Promise<ScimCaller | null> {
  if (!bearer.startsWith(PREFIX) || bearer.length > 200) return null;
  const row = await scimTokenByHash(directory.db, sha256Hex(bearer));
  const now = new Date(directory.clock.now());
  if (row === undefined || statusOf(row, now) !== "active") return null;
  // Recorded at most once a minute: a conditional update on every request would cost as much as the lookup.
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() >= USE_NOTED_MS)
    await noteScimTokenUse(directory.db, row.id, now);
  return {
    tenantId: row.tenant_id,
    source: row.source,
    tokenId: row.id,
    tokenName: row.name,
    adoptExisting: row.adopt_existing,
    removeAllMembers: row.remove_all_members,
  };
}

export async function listScimTokens(directory: Directory, tenantId: string, page: Page): Promise<Paged<ScimToken>> {
  const now = new Date(directory.clock.now());
  const { items, total } = await scimTokenStore.page(directory.db, tenantId, {}, page);
  return { items: items.map((row) => read(row, now)), total };
}

export async function getScimToken(directory: Directory, tenantId: string, id: string): Promise<ScimToken> {
  const row = await scimTokenStore.find(directory.db, tenantId, id);
  if (row === undefined) throw notFound("provisioning token");
  return read(row, new Date(directory.clock.now()));
}

function future(write: Write, expiresAt: string | null): Date | null {
  if (expiresAt === null) return null;
  const date = new Date(expiresAt);
  if (date <= write.now) throw invalidField("expires_at", "must be in the future");
  return date;
}

/** The token is only in the return value; the table stores its hash. */
export async function createScimToken(write: Write, tenantId: string, body: ScimTokenCreate): Promise<MintedScimToken> {
  const id = uuid();
  const token = PREFIX + randomBytes(32).toString("base64url");
  await scimTokenStore.insert(write.trx, {
    id,
    tenant_id: tenantId,
    name: body.name,
    source: body.directory ?? DEFAULT_DIRECTORY,
    token_hash: sha256Hex(token),
    token_hint: hintOf(token),
    adopt_existing: body.adopt_existing ?? false,
    remove_all_members: body.remove_all_members ?? false,
    expires_at: future(write, body.expires_at ?? null),
    created_at: write.now,
    updated_at: write.now,
  });
  const made = read((await scimTokenStore.find(write.trx, tenantId, id)) as ScimTokenRow, write.now);
  write.log({ tenant_id: tenantId, action: "create", resource: RESOURCE, resource_id: id, after: made });
  return { ...made, token };
}

async function changed(
  write: Write,
  tenantId: string,
  id: string,
  action: string,
  patchOf: (row: ScimTokenRow) => Parameters<typeof scimTokenStore.update>[2],
): Promise<ScimToken> {
  const before = await scimTokenStore.find(write.trx, tenantId, id, "lock");
  if (before === undefined) throw notFound("provisioning token");
  await scimTokenStore.update(write.trx, id, { ...patchOf(before), updated_at: write.now });
  const row = (await scimTokenStore.find(write.trx, tenantId, id)) as ScimTokenRow;
  write.stay(before, row, read(before, write.now));
  const after = read(row, write.now);
  write.log({ tenant_id: tenantId, action, resource: RESOURCE, resource_id: id, before: read(before, write.now), after });
  return after;
}

export function updateScimToken(write: Write, tenantId: string, id: string, body: ScimTokenUpdate): Promise<ScimToken> {
  const { expires_at: expiresAt, ...rest } = body;
  return changed(write, tenantId, id, "update", () => ({
    ...rest,
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt === null ? null : new Date(expiresAt) }),
  }));
}

/** Permanent: the next request with the token is refused. */
export function revokeScimToken(write: Write, tenantId: string, id: string): Promise<ScimToken> {
  return changed(write, tenantId, id, "revoke", (row) => ({ revoked_at: row.revoked_at ?? write.now }));
}
