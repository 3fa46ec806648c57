import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { noteSigner } from "@gatehouse/ledger-format/signed-note";
import { verifyExport } from "@gatehouse/ledger-format/verify-export";
import { sql } from "kysely";
import { systemClock } from "../../../server/kernel/clock.ts";
import { signAdminChain } from "../../../server/ledger/chains/admin-chain.ts";
import { registerSigningKey } from "../../../server/ledger/checkpoints/signing-keys.ts";
import { controlPlane, newTenant, type ControlPlane, type TenantWithAdmin } from "./admin-harness.ts";

const clock = systemClock();
let plane: ControlPlane;
let acme: TenantWithAdmin;

beforeAll(async () => {
  plane = await controlPlane();
  acme = await newTenant(plane, "acme");
  await newTenant(plane, "beta");
  await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      acme.send("POST", "/v1/admin/resource-groups", { name: `g${index}`, description: "ünïcode \u{1f600} 1e21" }),
    ),
  );
  const signer = noteSigner("gw.audit", generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString());
  await signAdminChain(plane.database.db, signer, await registerSigningKey(plane.database.db, signer, clock), clock);
});
afterAll(async () => plane.close());

const verify = async (send = plane.system) => (await send("POST", "/v1/admin/admin-log/verify")).body;

/** Tampers with the log as the owner of the database could. */
async function findingsAfterTampering(statement: string, undo: string): Promise<any> {
  const change = (text: string) =>
    plane.database.db.transaction().execute(async (trx) => {
      await sql`SET LOCAL session_replication_role = replica`.execute(trx);
      await sql.raw(text).execute(trx);
    });
  await change(statement);
  const found = await verify();
  await change(undo);
  return found;
}

test("admin log entries written concurrently form one chain, which verifies in the database and in its export", async () => {
  const whole = await verify();
  expect([whole.verdict, whole.findings, whole.pending_anchor, whole.checkpoints_checked]).toEqual(["intact", [], 0, 1]);
  expect(whole.rows_checked).toBeGreaterThan(14);
  const exported = await plane.system("GET", "/v1/admin/admin-log/export");
  const offline = await verifyExport(String(exported.body).split("\n"));
  expect([offline.verdict, offline.rows_checked, offline.chain_id]).toEqual(["intact", whole.rows_checked, "admin-log"]);
});

test("a tenant verifies the whole admin log chain but exports only its own entries", async () => {
  const found = await verify(acme.send);
  expect([found.verdict, found.rows_withheld > 0]).toEqual(["intact", true]);
  const { body } = await acme.send("GET", "/v1/admin/admin-log/export");
  expect(String(body)).toContain('"name":"g3"');
  expect(String(body)).not.toContain("admin-of-beta");
});

test("verification finds admin log entries altered, removed or added directly in the database", async () => {
  const altered = await findingsAfterTampering(
    "UPDATE admin_log SET actor_username = 'nobody' || actor_username WHERE chain_seq = 5",
    "UPDATE admin_log SET actor_username = substr(actor_username, 7) WHERE chain_seq = 5",
  );
  expect([altered.verdict, altered.findings[0].chain_seq]).toEqual(["altered", 5]);
  const group = "chain_seq = (SELECT min(chain_seq) FROM admin_log WHERE after->>'name' = 'g3')";
  const json = await findingsAfterTampering(
    `UPDATE admin_log SET after = after || '{"description": "x"}' WHERE ${group}`,
    `UPDATE admin_log SET after = after || '{"description": "ünïcode \u{1f600} 1e21"}' WHERE ${group}`,
  );
  expect(json.verdict).toBe("altered");
  const moved = await findingsAfterTampering(
    "UPDATE admin_log SET chain_seq = -7 WHERE chain_seq = 7",
    "UPDATE admin_log SET chain_seq = 7 WHERE chain_seq = -7",
  );
  expect(placesOf(moved)).toEqual(["altered@-7", "broken_link@-7", "missing@7"]);
  const added = await findingsAfterTampering(
    'INSERT INTO admin_log SELECT (jsonb_populate_record(a, \'{"id": "zforged", "chain_seq": null}\')).* FROM admin_log a WHERE chain_seq = 7',
    "DELETE FROM admin_log WHERE id = 'zforged'",
  );
  expect([added.verdict, added.findings_total, added.findings[0].row_id]).toEqual(["altered", 2, "zforged"]);
  const old = await findingsAfterTampering(
    'INSERT INTO admin_log SELECT (jsonb_populate_record(a, \'{"id": "0old", "chain_seq": null, "at": "2020-01-01"}\')).* FROM admin_log a WHERE chain_seq = 7',
    "DELETE FROM admin_log WHERE id = '0old'",
  );
  expect(old.verdict).toBe("intact");
});

const placesOf = (result: any) => result.findings.map((finding: any) => `${finding.verdict}@${finding.chain_seq}`);

test("findings in the admin log are stored like those of audit chains, and acknowledged as chain admin-log", async () => {
  const fault = async () => (await sql<{ verdict: string }>`SELECT verdict FROM chain_faults`.execute(plane.database.db)).rows;
  const name = "actor_username = 'nobody' || actor_username WHERE chain_seq = 5";
  const change = (text: string) =>
    plane.database.db.transaction().execute(async (trx) => {
      await sql`SET LOCAL session_replication_role = replica`.execute(trx);
      await sql.raw(`UPDATE admin_log SET ${text}`).execute(trx);
    });
  await verify();
  expect(await fault()).toEqual([]);
  await change(name);
  const { findings } = await verify();
  expect([findings.length, await fault()]).toEqual([1, [{ verdict: "altered" }]]);
  const ack = { finding_ids: [findings[0].id], note: "Renamed by hand in an emergency." };
  const acknowledged = await plane.system("POST", "/v1/admin/audit/chains/admin-log/ack", ack);
  expect([acknowledged.status, acknowledged.body.verdict, acknowledged.body.unacknowledged]).toEqual([200, "altered", 0]);
  expect((await verify(acme.send)).unacknowledged).toBe(0);
  await change(name.replace("'nobody' || actor_username", "substr(actor_username, 7)"));
  await verify();
  expect(await fault()).toEqual([]);
});
