import { expect, test } from "bun:test";
import { testDatabase } from "../../tests/support/database.ts";
import { secretBox } from "../kernel/secrets.ts";
import { recordedLog } from "../ledger/test-support.ts";
import { Snapshots } from "./snapshots.ts";

test("calls that meet a group for the first time at once share one read of it", async () => {
  const statements: string[] = [];
  const database = await testDatabase({ onQuery: (text) => statements.push(text) });
  const tenant_id = "acme";
  const groups = [crypto.randomUUID(), crypto.randomUUID()] as const;
  await database.db.insertInto("tenants").values({ id: tenant_id, name: tenant_id, display_name: null, data_retention: JSON.stringify({}), default_judge_model_id: null }).execute();
  await database.db.insertInto("resource_groups").values(groups.map((id) => ({ id, tenant_id, parent_group_id: null, name: id, display_name: null, description: null, eu_ai_act_risk_tier: null, phi_resource: null }))).execute();
  const snapshots = new Snapshots(database.db, secretBox(Buffer.alloc(32)), () => Promise.reject(new Error("there is no policy")), recordedLog());
  const reads = () => statements.filter((text) => text.includes("WITH RECURSIVE chain")).length;

  const scopes = await Promise.all(Array.from({ length: 20 }, (_, i) => snapshots.scope(tenant_id, groups[i % 2] as string)));
  expect(scopes.map((scope) => scope?.groupId)).toEqual(Array.from({ length: 20 }, (_, i) => groups[i % 2]));
  expect(reads()).toBe(2);
  expect(snapshots.scope(tenant_id, groups[0]) === scopes[0]).toBe(true);

  // Nothing is kept of a group that is not there: it may come.
  const unknown = crypto.randomUUID();
  for (let i = 0; i < 2; i++) expect(await snapshots.scope(tenant_id, unknown)).toBeNull();
  expect(reads()).toBe(4);
  await database.close();
});
