import { type Insertable, sql } from "kysely";
import { uuid } from "../../kernel/ids.ts";
import type { Database, Trx } from "../database.ts";
import type { SemanticCacheEntryTable } from "../tables/policies.ts";

export type SemanticCacheEntryInsert = Insertable<SemanticCacheEntryTable>;

/** A configuration of a tenant. */
export interface CacheOf {
  readonly tenantId: string;
  readonly configId: string;
}

export interface StoredAnswerRow {
  readonly model_name: string;
  readonly answer: unknown;
  readonly tokens: number;
  readonly created_at: Date;
}

export interface StoredVectorRow {
  readonly id: string;
  readonly embedding: Buffer;
  readonly semantic_until: Date;
}

export async function answerByKey(
  db: Database,
  of: CacheOf,
  exactKey: string,
  now: Date,
): Promise<(StoredAnswerRow & { readonly exact_until: Date }) | undefined> {
  const row = await entriesOf(db, of)
    .select(["model_name", "answer", "tokens", "created_at", "exact_until"])
    .where("exact_key", "=", exactKey)
    .where("exact_until", ">", now)
    .executeTakeFirst();
  return row as (StoredAnswerRow & { exact_until: Date }) | undefined;
}

export async function answerById(db: Database, of: CacheOf, id: string, now: Date): Promise<StoredAnswerRow | undefined> {
  return entriesOf(db, of)
    .select(["model_name", "answer", "tokens", "created_at"])
    .where("id", "=", id)
    .where("semantic_until", ">", now)
    .executeTakeFirst();
}

/** The newest vectors of a space stored after the ID `after`, at most `limit`; IDs sort by time. */
export async function vectorsOf(
  db: Database,
  of: CacheOf,
  space: string,
  after: string,
  limit: number,
  now: Date,
): Promise<StoredVectorRow[]> {
  const rows = await entriesOf(db, of)
    .select(["id", "embedding", "semantic_until"])
    .where("space", "=", space)
    .where("embedding", "is not", null)
    .where("semantic_until", ">", now)
    .where("id", ">", after)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows as StoredVectorRow[];
}

/** Stores an answer, replacing an older one, unless the configuration has moved to another generation since the call began. */
export async function storeAnswer(db: Database, generation: string, entry: SemanticCacheEntryInsert): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // The lock makes invalidation wait, so that it also drops what is stored here.
    const config = await trx
      .selectFrom("semantic_cache_configs")
      .select("generation")
      .where("tenant_id", "=", entry.tenant_id)
      .where("id", "=", entry.config_id)
      .forShare()
      .executeTakeFirst();
    if (config?.generation !== generation) return;
    // The call's row may already have arrived and been erased.
    const erased = await trx
      .selectFrom("audit_rows")
      .select("id")
      .where("id", "=", entry.call_id)
      .where("erased_at", "is not", null)
      .executeTakeFirst();
    if (erased !== undefined) return;
    await trx
      .insertInto("semantic_cache_entries")
      .values(entry)
      .onConflict((conflict) =>
        conflict.columns(["tenant_id", "config_id", "exact_key"]).doUpdateSet((eb) => {
          const set: Partial<Record<keyof SemanticCacheEntryTable, unknown>> = {};
          for (const column of Object.keys(entry) as (keyof SemanticCacheEntryTable)[]) set[column] = eb.ref(`excluded.${column}`);
          return set as never;
        }),
      )
      .execute();
  });
}

/** Drops answers of a configuration and makes every process forget them; returns how many. */
export async function dropAnswers(trx: Trx, of: CacheOf, which: { readonly before?: Date; readonly model?: string }): Promise<number> {
  await trx
    .updateTable("semantic_cache_configs")
    .set({ generation: uuid() })
    .where("tenant_id", "=", of.tenantId)
    .where("id", "=", of.configId)
    .execute();
  let query = trx.deleteFrom("semantic_cache_entries").where("tenant_id", "=", of.tenantId).where("config_id", "=", of.configId);
  if (which.before !== undefined) query = query.where("created_at", "<", which.before);
  if (which.model !== undefined) {
    const { model } = which;
    query = query.where((eb) => eb.or([eb("model_name", "=", model), eb(sql<string>`model_id::text`, "=", model)]));
  }
  const { numDeletedRows } = await query.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Deletes expired answers, and the oldest of a configuration that holds more than `most`; at most 10,000 of each. */
export async function pruneAnswers(db: Database, most: number): Promise<void> {
  await sql`DELETE FROM semantic_cache_entries WHERE id IN (
    SELECT e.id FROM semantic_cache_configs c, LATERAL (SELECT id FROM semantic_cache_entries WHERE config_id = c.id ORDER BY id DESC OFFSET ${most} LIMIT 10000) e)`.execute(
    db,
  );
  await sql`DELETE FROM semantic_cache_entries WHERE id IN (SELECT id FROM semantic_cache_entries WHERE GREATEST(exact_until, semantic_until) < now() LIMIT 10000 FOR UPDATE SKIP LOCKED)`.execute(
    db,
  );
}

function entriesOf(db: Database, { tenantId, configId }: CacheOf) {
  return db.selectFrom("semantic_cache_entries").where("tenant_id", "=", tenantId).where("config_id", "=", configId);
}
