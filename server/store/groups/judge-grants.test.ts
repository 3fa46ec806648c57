import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";

const MIGRATION = new URL("../migrations/0151_judge_grants.sql", import.meta.url);

test("the migration removes bindings made only by saving a policy, and keeps those made or hidden by hand", async () => {
  const { db, close } = await testDatabase();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('acme', 'acme', '{}')`.execute(db);
  const [group, provider] = [crypto.randomUUID(), crypto.randomUUID()];
  await sql`INSERT INTO resource_groups (id, tenant_id, name) VALUES (${group}, 'acme', 'g')`.execute(db);
  await sql`INSERT INTO providers (id, tenant_id, provider_key, name, api_format) VALUES (${provider}, 'acme', 'p', 'p', 'echo')`.execute(
    db,
  );
  const bound = async (name: string, visible: boolean) => {
    const id = crypto.randomUUID();
    await sql`INSERT INTO models (id, tenant_id, name, model_name, provider_id, modes) VALUES (${id}, 'acme', ${name}, ${name}, ${provider}, '{chat}')`.execute(
      db,
    );
    await sql`INSERT INTO resource_group_models (tenant_id, group_id, model_id, portal_visible) VALUES ('acme', ${group}, ${id}, ${visible})`.execute(
      db,
    );
    return id;
  };
  await bound("granted by a save alone", false);
  await bound("shown", true);
  const hidden = await bound("hidden by hand", false);
  const logged = JSON.stringify({ model_id: hidden, portal_visible: false });
  await sql`INSERT INTO admin_log (id, tenant_id, action, resource, resource_id, after) VALUES ('1', 'acme', 'update', 'group-models', ${group}, ${logged}::jsonb)`.execute(
    db,
  );
  await sql.raw(readFileSync(MIGRATION, "utf8")).execute(db);
  const { rows } = await sql<{
    name: string;
  }>`SELECT m.name FROM resource_group_models b JOIN models m ON m.id = b.model_id ORDER BY m.name`.execute(db);
  expect(rows.map(({ name }) => name)).toEqual(["hidden by hand", "shown"]);
  await close();
});
