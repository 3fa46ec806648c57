import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { testDatabase } from "../../../tests/support/database.ts";

const MIGRATION = new URL("../migrations/0367_orphaned_memberships.sql", import.meta.url);

test("the migration removes memberships that no sign-in would remove any more, and no others", async () => {
  const { db, close } = await testDatabase();
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('acme', 'acme', '{}')`.execute(db);
  const [user, group, gone] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  await sql`INSERT INTO end_users (id, tenant_id, username, password_hash) VALUES (${user}, 'acme', 'ada', '')`.execute(db);
  await sql`INSERT INTO end_user_groups (id, tenant_id, name) VALUES (${group}, 'acme', 'g')`.execute(db);
  const provider = async (name: string, settings: object, isLinked: boolean) => {
    const id = crypto.randomUUID();
    await sql`INSERT INTO identity_providers (id, tenant_id, kind, name, audience, settings)
      VALUES (${id}, 'acme', 'oidc', ${name}, 'portal', ${JSON.stringify(settings)}::jsonb)`.execute(db);
    if (isLinked)
      await sql`INSERT INTO external_identities (provider_id, subject, tenant_id, end_user_id) VALUES (${id}, 's', 'acme', ${user})`.execute(
        db,
      );
    return `sso-${id}`;
  };
  const kept = [
    await provider("in force", { scim_directory: null }, true),
    await provider("of before there were directories", {}, true),
    "direct",
    "entra",
    "sso-of-the-company",
  ];
  const orphans = [
    `sso-${gone}`,
    await provider("of a directory", { scim_directory: "entra" }, true),
    await provider("whom the person was unlinked from", { scim_directory: null }, false),
  ];
  for (const source of [...kept, ...orphans])
    await sql`INSERT INTO end_user_group_members (group_id, end_user_id, source, tenant_id) VALUES (${group}, ${user}, ${source}, 'acme')`.execute(
      db,
    );
  await sql.raw(readFileSync(MIGRATION, "utf8")).execute(db);
  const { rows } = await sql<{ source: string }>`SELECT source FROM end_user_group_members`.execute(db);
  expect(rows.map(({ source }) => source).toSorted()).toEqual(kept.toSorted());
  await close();
});
