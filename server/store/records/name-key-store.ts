import { sql } from "kysely";
import { NAME_KEYS_CONTEXT } from "../../kernel/seal-contexts.ts";
import { type NameKeys, readNameKeys } from "../../kernel/name-keys.ts";
import type { SecretBox } from "../../kernel/secrets.ts";
import type { Database } from "../database.ts";

/** The stored keys of names; null if there are none, or none that `secrets` opens. */
export async function storedNameKeys(db: Database, secrets: SecretBox): Promise<NameKeys | null> {
  const row = await db.selectFrom("secret_names").select("keys_sealed").executeTakeFirst();
  const text = secrets.openOrNull(row?.keys_sealed ?? null, NAME_KEYS_CONTEXT);
  return text === null ? null : readNameKeys(text);
}

/** Stores the keys, unless there are some already that `all` opens. */
export async function keepNameKeys(
  db: Database,
  { own, all }: { readonly own: SecretBox; readonly all: SecretBox },
  keys: NameKeys,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`LOCK TABLE secret_names IN EXCLUSIVE MODE`.execute(trx);
    if ((await storedNameKeys(trx, all)) !== null) return;
    const sealed = own.seal(keys.text(), NAME_KEYS_CONTEXT);
    await trx
      .insertInto("secret_names")
      .values({ keys_sealed: sealed })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ keys_sealed: sealed }))
      .execute();
  });
}
