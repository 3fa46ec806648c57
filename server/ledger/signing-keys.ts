import type { TrustedKey } from "@gatehouse/ledger-format/checkpoint";
import { noteKey, type NoteKey } from "@gatehouse/ledger-format/signed-note";
import { sql } from "kysely";
import { isoMicros, type Clock } from "../kernel/clock.ts";
import type { Database } from "../store/database.ts";
import { isoColumn } from "../store/audit-columns.ts";

/** A public key as `GET /v1/admin/audit/keys` and the export show it. Times are ISO 8601 UTC. */
export interface AuditKey {
  readonly name: string;
  readonly key_id: string;
  /** The 32 bytes of an Ed25519 public key, base64. */
  readonly public_key: string;
  readonly valid_from: string;
  readonly valid_to: string | null;
}

/** Publishes the key, valid from now on if it is new. Returns since when it is valid: it must not sign for earlier times. */
export async function registerSigningKey(db: Database, key: NoteKey, clock: Clock): Promise<string> {
  await sql`INSERT INTO audit_keys (key_id, name, public_key, valid_from) VALUES (${key.keyId}, ${key.name}, ${key.publicKey}, ${isoMicros(clock.micros())}) ON CONFLICT (key_id) DO NOTHING`.execute(
    db,
  );
  const known = (await listSigningKeys(db)).find((other) => other.key_id === key.keyId);
  if (known === undefined || known.public_key !== key.publicKey)
    throw new Error(`another public key is registered under the id of the audit signing key (${key.keyId})`);
  return known.valid_from;
}

/** Every public key that ever signed checkpoints, oldest first. */
export async function listSigningKeys(db: Database): Promise<AuditKey[]> {
  const result =
    await sql<AuditKey>`SELECT name, key_id, public_key, ${isoColumn("valid_from")} AS valid_from, ${isoColumn("valid_to")} AS valid_to FROM audit_keys ORDER BY audit_keys.valid_from, key_id`.execute(
      db,
    );
  return result.rows;
}

/** Keys as the verifier trusts them: their ids are computed from the keys themselves. What is no key is left out: it signed nothing. */
export function trustedKeys(keys: readonly AuditKey[]): TrustedKey[] {
  return keys.flatMap((key) => {
    const bytes = Buffer.from(key.public_key, "base64");
    return bytes.byteLength === 32 ? [{ ...noteKey(key.name, bytes), validFrom: key.valid_from, validTo: key.valid_to }] : [];
  });
}
