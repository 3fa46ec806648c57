import { type Insertable, type Selectable, sql } from "kysely";
import type { Database } from "../database.ts";
import type { SignOnStepTable } from "../tables/identity.ts";

export type SignOnStepRow = Selectable<SignOnStepTable>;

/** Also deletes expired steps. */
export async function insertSignOnStep(db: Database, step: Insertable<SignOnStepTable>, now: Date): Promise<void> {
  await db.deleteFrom("sign_on_steps").where("expires_at", "<", now).execute();
  await db.deleteFrom("sign_on_used").where("expires_at", "<", now).execute();
  await db.insertInto("sign_on_steps").values(step).execute();
}

/** Deletes and returns the step: it is valid once, and only in the browser that began it. */
export async function takeSignOnStep(
  db: Database,
  step: Pick<SignOnStepRow, "step_hash" | "kind" | "binding_hash">,
  now: Date,
): Promise<SignOnStepRow | undefined> {
  return db
    .deleteFrom("sign_on_steps")
    .where("step_hash", "=", step.step_hash)
    .where("kind", "=", step.kind)
    .where("binding_hash", "=", step.binding_hash)
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
}

/** Returns false if it was used before. */
export async function useOnce(db: Database, providerId: string, usedId: string, expiresAt: Date): Promise<boolean> {
  const { rows } = await sql`
    INSERT INTO sign_on_used (provider_id, used_id, expires_at) VALUES (${providerId}, ${usedId}, ${expiresAt})
    ON CONFLICT DO NOTHING RETURNING used_id`.execute(db);
  return rows.length === 1;
}
