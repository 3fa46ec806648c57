import { createPublicKey, type KeyObject } from "node:crypto";
import type { CollectorKey, CollectorKeyCreate, CollectorKeyQuery } from "@gatehouse/contracts/discovery";
import { refuse, Refused } from "../../kernel/errors.ts";
import { uuid } from "../../kernel/ids.ts";
import {
  collectorKeyById,
  collectorKeyOf,
  collectorKeyPage,
  type CollectorKeyRow,
  findCollectorKey,
  insertCollectorKey,
  revokeCollectorKeyRow,
} from "../../store/discovery/collector-keys.ts";
import type { Page, Paged } from "../../store/records/paging.ts";
import { invalidField, notFound } from "../writes/records.ts";
import type { Directory, Write } from "../writes/write.ts";

const RAW_BYTES = 32;

/** The key object for 32 base64 bytes. */
export function collectorPublicKey(base64: string): KeyObject {
  const x = Buffer.from(base64, "base64").toString("base64url");
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
}

/** The 32 bytes of a key, given as PEM or base64, in base64; null if it is not a valid key. */
function rawOf(text: string): string | null {
  try {
    if (text.includes("-----BEGIN")) {
      const key = createPublicKey(text);
      const { x } = key.export({ format: "jwk" });
      return key.asymmetricKeyType === "ed25519" && x !== undefined ? Buffer.from(x, "base64url").toString("base64") : null;
    }
    const bytes = Buffer.from(text.trim(), "base64");
    if (bytes.byteLength !== RAW_BYTES || !/^[A-Za-z0-9+/_-]{43}=?$/.test(text.trim())) return null;
    const base64 = bytes.toString("base64");
    return collectorPublicKey(base64).asymmetricKeyType === "ed25519" ? base64 : null;
  } catch {
    return null;
  }
}

const read = (row: CollectorKeyRow): CollectorKey => ({
  id: row.id,
  tenant_id: row.tenant_id,
  collector_id: row.collector_id,
  public_key: row.public_key,
  trust_tier: row.trust_tier as CollectorKey["trust_tier"],
  status: row.revoked_at === null ? "active" : "revoked",
  device_id: row.device_id,
  last_seen: row.last_seen?.toISOString() ?? null,
  revoked_at: row.revoked_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
});

/** The key named by a request. The request is not verified yet, so nothing in it can be trusted. */
export function collectorOfKey({ db }: Pick<Directory, "db">, id: string): Promise<CollectorKeyRow | undefined> {
  return collectorKeyById(db, id);
}

export async function listCollectorKeys(
  directory: Directory,
  tenantId: string,
  filters: CollectorKeyQuery,
  page: Page,
): Promise<Paged<CollectorKey>> {
  const { items, total } = await collectorKeyPage(directory.db, tenantId, filters, page);
  return { items: items.map(read), total };
}

export async function registerCollectorKey(write: Write, tenantId: string, body: CollectorKeyCreate): Promise<CollectorKey> {
  const publicKey = rawOf(body.public_key);
  if (publicKey === null) throw invalidField("public_key", "must be an Ed25519 public key: its 32 bytes in base64, or PEM");
  const existing = await collectorKeyOf(write.trx, tenantId, publicKey);
  if (existing !== undefined)
    throw new Refused(refuse("conflict", "This public key is registered already.", { extra: { existing_id: existing } }));
  const row = await insertCollectorKey(write.trx, {
    id: uuid(),
    tenant_id: tenantId,
    collector_id: body.collector_id,
    public_key: publicKey,
    trust_tier: body.trust_tier,
    created_at: write.now,
  });
  const made = read(row);
  write.log({ tenant_id: tenantId, action: "create", resource: "collector-keys", resource_id: row.id, after: made });
  return made;
}

/** Permanent: from the next request on, nothing it signed is accepted. */
export async function revokeCollectorKey(write: Write, tenantId: string, id: string): Promise<CollectorKey> {
  const before = await findCollectorKey(write.trx, tenantId, id);
  if (before === undefined) throw notFound("collector key");
  if (before.revoked_at !== null) throw new Refused(refuse("conflict", "This key was revoked before."));
  const after = read(await revokeCollectorKeyRow(write.trx, id, write.now));
  write.log({ tenant_id: tenantId, action: "revoke", resource: "collector-keys", resource_id: id, before: read(before), after });
  return after;
}
