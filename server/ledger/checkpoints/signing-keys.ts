import type { TrustedKey } from "@gatehouse/ledger-format/checkpoint";
import { noteKey, type NoteKey } from "@gatehouse/ledger-format/signed-note";
import { sql } from "kysely";
import { isoMicros, type Clock } from "../../kernel/clock.ts";
import type { Database } from "../../store/database.ts";
import { isoColumn } from "../../store/ledger/audit-columns.ts";

/** A public key as `GET /v1/admin/audit/keys` and the export return it. Times are ISO 8601 UTC. */
export interface AuditKey {
  readonly name: string;
  readonly key_id: string;
  /** The 32 bytes of an Ed25519 public key, base64. */
  readonly public_key: string;
  readonly valid_from: string;
  readonly valid_to: string | null;
}

const HOUR_MS = 3_600_000;
/** A process may be cut off from the database this long and still sign. */
const UNUSED_MS = 7 * 24 * HOUR_MS;

/**
 * Publishes the key, valid from now if it is new, and marks it as in use. Returns the start of its validity, before which it must not sign.
 */
export async function registerSigningKey(db: Database, key: NoteKey, clock: Clock): Promise<string> {
  const now = isoMicros(clock.micros());
  await sql`INSERT INTO audit_keys AS k (key_id, name, public_key, valid_from, used_at) VALUES (${key.keyId}, ${key.name}, ${key.publicKey}, ${now}, ${now})
    ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at, valid_to = NULL
    WHERE k.public_key = excluded.public_key AND (k.valid_to IS NOT NULL OR k.used_at IS NULL OR k.used_at < ${new Date(clock.now() - HOUR_MS)})`.execute(
    db,
  );
  const known = (await listSigningKeys(db)).find((other) => other.key_id === key.keyId);
  if (known === undefined || known.public_key !== key.publicKey)
    throw new Error(`another public key is registered under the id of the audit signing key (${key.keyId})`);
  return known.valid_from;
}

/** Ends the validity of keys unused for a week if another key is in use. Idempotent. */
export async function retireSigningKeys(db: Database, clock: Clock): Promise<void> {
  const since = new Date(clock.now() - UNUSED_MS);
  await sql`UPDATE audit_keys SET valid_to = ${isoMicros(clock.micros())}
    WHERE valid_to IS NULL AND used_at < ${since} AND EXISTS (SELECT FROM audit_keys o WHERE o.used_at >= ${since})`.execute(db);
}

/** Every public key that ever signed checkpoints, oldest first. */
export async function listSigningKeys(db: Database): Promise<AuditKey[]> {
  const result =
    await sql<AuditKey>`SELECT name, key_id, public_key, ${isoColumn("valid_from")} AS valid_from, ${isoColumn("valid_to")} AS valid_to FROM audit_keys ORDER BY audit_keys.valid_from, key_id`.execute(
      db,
    );
  return result.rows;
}

/**
 * The keys to trust in a verification. Key IDs are computed from the keys themselves; malformed keys are skipped, since they cannot have
 * signed anything.
 */
export function trustedKeys(keys: readonly AuditKey[]): TrustedKey[] {
  return keys.flatMap((key) => {
    const bytes = Buffer.from(key.public_key, "base64");
    return bytes.byteLength === 32 ? [{ ...noteKey(key.name, bytes), validFrom: key.valid_from, validTo: key.valid_to }] : [];
  });
}
