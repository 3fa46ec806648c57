import type { ApiKey, ApiKeyCreate, ApiKeyQuery, ApiKeyUpdate, MintedApiKey } from "@gatehouse/contracts/api-keys";
import { refuse, Refused } from "../../kernel/errors.ts";
import { addressRanges } from "../../kernel/http/address-ranges.ts";
import { uuid } from "../../kernel/ids.ts";
import { newApiKey, sha256Hex } from "../../kernel/secrets.ts";
import { formerValuesOf, keepFormerValue } from "../../store/credentials/former-key-values.ts";
import { activeKeyByName, apiKeyStore, type ApiKeyInsert, type ApiKeyRow } from "../../store/credentials/api-keys.ts";
import { endUserExists } from "../../store/people/end-users.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { resourceGroupStore } from "../../store/groups/resource-groups.ts";
import { knownSkills } from "../../store/skills/group-skills.ts";
import { hintOf, invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";

const RESOURCE = "api-keys";

function statusOf(row: ApiKeyRow, now: Date): ApiKey["status"] {
  if (row.revoked_at !== null) return "revoked";
  return row.expires_at !== null && row.expires_at <= now ? "expired" : "active";
}

export function readApiKey(row: ApiKeyRow, now: Date): ApiKey {
  const graceLasts = row.previous_valid_until !== null && row.previous_valid_until > now && statusOf(row, now) === "active";
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    name: row.name,
    scope: row.scope as ApiKey["scope"],
    access_mode: row.access_mode as ApiKey["access_mode"],
    resource_group_id: row.resource_group_id,
    end_user_id: row.end_user_id,
    allowed_skill_ids: row.allowed_skill_ids,
    allowed_addresses: row.allowed_addresses,
    key_hint: row.key_hint,
    status: statusOf(row, now),
    expires_at: row.expires_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
    previous_valid_until: graceLasts ? (row.previous_valid_until?.toISOString() ?? null) : null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The admin log is sealed, so it omits the names people give their own keys, which must be erasable. */
function loggedKey(row: ApiKeyRow, now: Date): object {
  const { name, ...rest } = readApiKey(row, now);
  return row.resource_group_id === null ? rest : { ...rest, name };
}

const minted = (key: ApiKey, plaintext: string): MintedApiKey => ({ ...key, key_value: plaintext, full_key: plaintext, key: plaintext });

/** Announces all values of a key, so that no runtime process keeps accepting any of them. */
async function notifyKey(write: Write, row: ApiKeyRow): Promise<void> {
  const former = await formerValuesOf(write.trx, [row.id]);
  for (const hash of [row.key_hash, row.previous_hash, ...former]) if (hash !== null) write.notify(row.tenant_id, "api_key", hash);
}

async function found(write: Write, tenantId: string, id: string, lock?: "lock"): Promise<ApiKeyRow> {
  const row = await apiKeyStore.find(write.trx, tenantId, id, lock);
  if (row === undefined) throw notFound("API key");
  return row;
}

function future(write: Write, expiresAt: string | null): Date | null {
  if (expiresAt === null) return null;
  const date = new Date(expiresAt);
  if (date <= write.now) throw invalidField("expires_at", "must be in the future");
  return date;
}

export async function listApiKeys(directory: Directory, tenantId: string, filters: ApiKeyQuery, page: Page): Promise<Paged<ApiKey>> {
  const now = new Date(directory.clock.now());
  const search = filters.search === undefined ? undefined : { text: filters.search, hash: sha256Hex(filters.search) };
  const { items, total } = await apiKeyStore.page(directory.db, tenantId, { ...filters, search, now }, page);
  return { items: items.map((row) => readApiKey(row, now)), total };
}

export async function getApiKey(directory: Directory, tenantId: string, id: string): Promise<ApiKey> {
  const row = await apiKeyStore.find(directory.db, tenantId, id);
  if (row === undefined) throw notFound("API key");
  return readApiKey(row, new Date(directory.clock.now()));
}

/** The plaintext is only in the return value; the table stores its hash. */
export async function createApiKey(write: Write, tenantId: string, groupId: string, body: ApiKeyCreate): Promise<MintedApiKey> {
  if ((await resourceGroupStore.find(write.trx, tenantId, groupId)) === undefined) throw notFound("resource group");
  if (body.end_user_id !== undefined && !(await endUserExists(write.trx, tenantId, body.end_user_id)))
    throw invalidField("end_user_id", "names no end user of this tenant");
  await knowSkills(write, tenantId, body.allowed_skill_ids ?? []);
  const sameName = await activeKeyByName(write.trx, groupId, body.name, write.now);
  if (sameName !== undefined)
    throw new Refused(refuse("conflict", "The group already has an active API key of this name.", { extra: { existing_id: sameName } }));
  return made(write, tenantId, {
    name: body.name,
    scope: body.scope ?? "global",
    access_mode: body.access_mode ?? "shared",
    resource_group_id: groupId,
    end_user_id: body.end_user_id ?? null,
    allowed_skill_ids: body.allowed_skill_ids == null ? null : JSON.stringify(body.allowed_skill_ids),
    allowed_addresses: readableAddresses(body.allowed_addresses ?? null),
    expires_at: future(write, body.expires_at ?? null),
  });
}

/** A person's key without a group: each call may use what the person may use at that moment. */
export function createOwnedKey(
  write: Write,
  tenantId: string,
  userId: string,
  { name, expires_at }: { readonly name: string; readonly expires_at: string | null },
): Promise<MintedApiKey> {
  return made(write, tenantId, {
    name,
    scope: "user",
    access_mode: "shared",
    resource_group_id: null,
    end_user_id: userId,
    allowed_skill_ids: null,
    allowed_addresses: null,
    expires_at: future(write, expires_at),
  });
}

async function knowSkills(write: Write, tenantId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const known = await knownSkills(write.trx, tenantId, ids);
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw invalidField("allowed_skill_ids", `names no skill of this tenant: ${unknown.slice(0, 5).join(", ")}`);
}

function readableAddresses(given: string[] | null): string[] | null {
  const ranges = given === null ? null : addressRanges(given);
  if (typeof ranges === "number")
    throw invalidField(`allowed_addresses.${ranges}`, "must be an address or range such as 10.0.0.0/8 or 2001:db8::1");
  return given;
}

type Given = Pick<
  ApiKeyInsert,
  "name" | "scope" | "access_mode" | "resource_group_id" | "end_user_id" | "allowed_skill_ids" | "allowed_addresses" | "expires_at"
>;

async function made(write: Write, tenantId: string, given: Given): Promise<MintedApiKey> {
  const id = uuid();
  const plaintext = newApiKey();
  await apiKeyStore.insert(write.trx, {
    ...given,
    id,
    tenant_id: tenantId,
    key_hash: sha256Hex(plaintext),
    key_hint: hintOf(plaintext),
    previous_hash: null,
    created_at: write.now,
    updated_at: write.now,
  });
  const row = await found(write, tenantId, id);
  write.log({ tenant_id: tenantId, action: "create", resource: RESOURCE, resource_id: id, after: loggedKey(row, write.now) });
  await notifyKey(write, row);
  return minted(readApiKey(row, write.now), plaintext);
}

export async function updateApiKey(write: Write, tenantId: string, id: string, body: ApiKeyUpdate): Promise<ApiKey> {
  const before = await found(write, tenantId, id, "lock");
  const expires_at = body.expires_at === undefined ? before.expires_at : body.expires_at === null ? null : new Date(body.expires_at);
  const name = body.name ?? before.name;
  // Reactivating a key claims its name again.
  const revived = statusOf(before, write.now) !== "active";
  if (
    before.resource_group_id !== null &&
    (name !== before.name || revived) &&
    statusOf({ ...before, expires_at }, write.now) === "active"
  ) {
    const sameName = await activeKeyByName(write.trx, before.resource_group_id, name, write.now);
    if (sameName !== undefined)
      throw new Refused(refuse("conflict", "The group already has an active API key of this name.", { extra: { existing_id: sameName } }));
  }
  const { allowed_skill_ids: skills, allowed_addresses: addresses, access_mode: mode } = body;
  // A skill deleted since may stay listed, so that a key can be sent back as it was read.
  const named = new Set(before.allowed_skill_ids);
  await knowSkills(
    write,
    tenantId,
    (skills ?? []).filter((skill) => !named.has(skill)),
  );
  await apiKeyStore.update(write.trx, id, {
    name,
    expires_at,
    ...(mode === undefined ? {} : { access_mode: mode }),
    ...(skills === undefined ? {} : { allowed_skill_ids: skills === null ? null : JSON.stringify(skills) }),
    ...(addresses === undefined ? {} : { allowed_addresses: readableAddresses(addresses) }),
    updated_at: write.now,
  });
  const row = await found(write, tenantId, id);
  write.stay(before, row, readApiKey(before, write.now));
  write.log({
    tenant_id: tenantId,
    action: "update",
    resource: RESOURCE,
    resource_id: id,
    before: loggedKey(before, write.now),
    after: loggedKey(row, write.now),
  });
  await notifyKey(write, row);
  return readApiKey(row, write.now);
}

/** Permanent. A key that is already revoked keeps its revocation time. */
export async function revokeApiKey(write: Write, tenantId: string, id: string): Promise<ApiKey> {
  const before = await found(write, tenantId, id, "lock");
  await apiKeyStore.update(write.trx, id, { revoked_at: before.revoked_at ?? write.now, updated_at: write.now });
  const row = await found(write, tenantId, id);
  write.stay(before, row, readApiKey(before, write.now));
  write.log({
    tenant_id: tenantId,
    action: "revoke",
    resource: RESOURCE,
    resource_id: id,
    before: loggedKey(before, write.now),
    after: loggedKey(row, write.now),
  });
  await notifyKey(write, row);
  return readApiKey(row, write.now);
}

/** Issues a new value under the same ID. The old value stays valid for the grace period, and earlier ones until their own grace ends. */
export async function rotateApiKey(write: Write, tenantId: string, id: string, graceSeconds: number): Promise<MintedApiKey> {
  const before = await found(write, tenantId, id, "lock");
  if (statusOf(before, write.now) !== "active") throw new Refused(refuse("key_not_active"));
  const plaintext = newApiKey();
  const { previous_hash: former, previous_valid_until: until } = before;
  if (former !== null && until !== null && until > write.now)
    await keepFormerValue(write.trx, { key_hash: former, api_key_id: id, valid_until: until });
  await apiKeyStore.update(write.trx, id, {
    key_hash: sha256Hex(plaintext),
    key_hint: hintOf(plaintext),
    previous_hash: before.key_hash,
    previous_valid_until: new Date(write.now.getTime() + graceSeconds * 1000),
    updated_at: write.now,
  });
  const row = await found(write, tenantId, id);
  write.log({
    tenant_id: tenantId,
    action: "rotate",
    resource: RESOURCE,
    resource_id: id,
    before: loggedKey(before, write.now),
    after: { ...loggedKey(row, write.now), grace_seconds: graceSeconds },
  });
  await notifyKey(write, before);
  await notifyKey(write, row);
  return minted(readApiKey(row, write.now), plaintext);
}
