import { expect, test } from "bun:test";
import { sql } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";
import { hasOtherOwner } from "../sign-on/sign-on.ts";

test("if two owners lose the role at once, the second is recognized as the last owner", async () => {
  const { db, close } = await testDatabase();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('acme', 'acme', '{}')`.execute(db);
  const owner = async (username: string) => {
    const id = crypto.randomUUID();
    await sql`INSERT INTO admin_users (id, tenant_id, username, password_hash, role) VALUES (${id}, 'acme', ${username}, '', 'owner')`.execute(
      db,
    );
    return id;
  };
  const [first, second] = [await owner("first"), await owner("second")];
  let answered = false;
  const waits = async () => {
    const { rows } = await sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`.execute(db);
    return rows.length > 0;
  };
  const answers: boolean[] = [];
  let later: Promise<void> = Promise.resolve();
  await db.transaction().execute(async (trx) => {
    answers.push(await hasOtherOwner(trx, "acme", first));
    later = db.transaction().execute(async (other) => {
      answers.push(await hasOtherOwner(other, "acme", second));
      answered = true;
    });
    while (!answered && !(await waits()));
    await trx.updateTable("admin_users").set({ role: "viewer" }).where("id", "=", first).execute();
  });
  await later;
  expect(answers).toEqual([true, false]);
  await close();
});
