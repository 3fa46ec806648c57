import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import pg from "pg";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";
import { newTeam, type Team } from "../tools/mcp-harness.ts";

/** A report about a system at a point in time, as a document that others can verify without the gateway. */
let world: World;
let owner: AdminClient;
let team: Team;
const folder = mkdtempSync(join(tmpdir(), "certificates-"));
const ROOT = join(import.meta.dir, "..", "..", "..");

beforeAll(async () => {
  world = await startWorld();
  const account = { tenant_id: "default", username: "owner", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account, "tenant");
  team = await newTeam(world.admin, "certified");
  await owner.post("/v1/admin/ai-systems", { group_id: team.groupId, owner: "Ada" });
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world.end();
});

const at = (rest: string) => `/v1/admin/ai-systems/${team.groupId}${rest}`;
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
async function document(path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(world.gateway.adminUrl + path, { headers: { authorization: `Bearer ${owner.token}` } });
  return { status: response.status, text: await response.text() };
}

/** Verifies without the gateway or its database. */
function verified(path: string, key: string) {
  const run = spawnSync("node", [join(ROOT, "bin/gatehouse.mjs"), "verify", "certificate", path, "--public-key", key], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
  });
  return { code: run.status, said: run.stdout.toString() };
}

test("an assurance report is stored unchanged, and its certificate verifies offline with the public key until it is altered", async () => {
  const health = await owner.get(at("/health"));
  expect([health.score, health.band, health.components.find(({ id }: any) => id === "contract").score]).toEqual([null, "unknown", 69]);
  const live = await owner.get(at("/assurance"));
  expect([live.result, live.gaps.includes("no_contract"), live.ai_system.owner]).toEqual(["FAILED", true, "Ada"]);
  const captured = await owner.post(at("/assurance"), { valid_days: 30 });
  await owner.request("PATCH", at(""), { owner: "Grace" });
  const kept = await owner.get(at(`/assurance/history/${captured.id}`));
  expect([kept.report.ai_system.owner, kept.digest]).toEqual(["Ada", captured.digest]);
  expect((await owner.get(at("/assurance/history"))).snapshots.map(({ id }: any) => id)).toEqual([captured.id]);

  const { text: certificate } = await document(at(`/assurance/history/${captured.id}/export`));
  const { keys } = await world.admin.get("/v1/admin/audit/keys");
  const key = file("key", keys[0].public_key);
  const good = verified(file("certificate.json", certificate), key);
  expect([good.code, good.said.split("\n")[0]]).toEqual([0, "valid: FAILED"]);
  expect(good.said).toContain(`ai-system:${team.groupId} sha256:${captured.digest}`);

  const envelope = JSON.parse(certificate);
  const payload = Buffer.from(envelope.payload, "base64").toString();
  const forged = { ...envelope, payload: Buffer.from(payload.replace('"FAILED"', '"PASSED"')).toString("base64") };
  expect(verified(file("forged.json", JSON.stringify(forged)), key)).toEqual({
    code: 2,
    said: "invalid: no signature of it is by a key that was given\n",
  });
  const otherKey = generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }).toString();
  expect(verified(join(folder, "certificate.json"), file("other.pem", otherKey)).code).toBe(2);

  const { standards } = await owner.get("/v1/admin/standards");
  expect(standards.map(({ slug }: any) => slug)).toEqual(["assurance-report", "certificate", "compliance-report", "contract"]);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const schema = await owner.get("/v1/admin/standards/certificate/schema");
  expect(ajv.validate(schema, JSON.parse(payload))).toBe(true);
  const minted = await owner.post(at("/contracts"), {});
  const { text: exported } = await document(at(`/contracts/${minted.version}/export`));
  expect(ajv.validate(await owner.get("/v1/admin/standards/contract/schema"), JSON.parse(exported))).toBe(true);

  const revoked = await owner.post(at(`/assurance/history/${captured.id}/revoke`), { reason: "a mistake" });
  expect([revoked.revoked_by, revoked.revoke_reason]).toEqual(["owner", "a mistake"]);
  const refused = await document(at(`/assurance/history/${captured.id}/export`));
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([409, "certificate_revoked"]);
});

test("a certificate under a contract can be exported only while that contract is in force", async () => {
  const account = { tenant_id: "default", username: "reviewer", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  const reviewer = await signIn(world.gateway.adminUrl, account, "tenant");
  const { id } = await owner.post(at("/contracts"), {});
  await reviewer.post(`/v1/admin/contracts/${id}/approve`, { reason: "read it" });
  await owner.post(`/v1/admin/contracts/${id}/promote`, {});
  const captured = await owner.post(at("/assurance"), {});
  const certificate = () => document(at(`/assurance/history/${captured.id}/export`));
  expect((await certificate()).status).toBe(200);
  await owner.post(`/v1/admin/contracts/${id}/revoke`, { reason: "an emergency" });
  const refused = await certificate();
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([409, "certificate_revoked"]);
});

test("no certificate is exported while its chain is verified as altered, until a full verification finds it intact", async () => {
  await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/models`, { headers: { "x-api-key": team.apiKey } });
  await until(
    () => world.admin.get("/v1/admin/audit/chains"),
    ({ chains }) => chains.some(({ head_seq: head }: any) => head > 0),
  );
  const captured = await owner.post(at("/assurance"), {});
  const [{ chain_id: chain }] = captured.report.ledger;
  const certificate = () => document(at(`/assurance/history/${captured.id}/export`));
  expect((await certificate()).status).toBe(200);

  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  const addToStatus = (more: number) =>
    database.query("UPDATE audit_rows SET http_status_code = http_status_code + $1 WHERE chain_id = $2 AND chain_seq = 1", [more, chain]);
  const verify = (range: object) => owner.post(`/v1/admin/audit/chains/${chain}/verify`, range);
  const record = async () => (await owner.get(at("/health"))).components.find(({ id }: any) => id === "record");

  await addToStatus(1);
  expect((await verify({})).verdict).toBe("altered");
  const refused = await certificate();
  expect([refused.status, JSON.parse(refused.text).code]).toEqual([409, "certificate_revoked"]);
  expect(refused.text).toContain(`${chain} of the ledger, which it rests on, was verified as altered`);
  expect([(await record()).score, (await owner.get(at("/assurance"))).result]).toEqual([20, "FAILED"]);
  const reported = async (report: string, control: string) =>
    (await owner.get(`/v1/admin/compliance/${report}`)).items.find((item: any) => item.control === control);
  for (const [report, control] of [
    ["eu-ai-act/risk-classification", "Article 12"],
    ["soc2/control-coverage", "CC7.1, CC7.2"],
  ] as const)
    expect(await reported(report, control)).toMatchObject({ status: "not_met", reason: expect.stringContaining("altered") });

  await addToStatus(-1);
  expect((await verify({ from_seq: 1, to_seq: 1 })).verdict).not.toBe("altered");
  expect((await certificate()).status).toBe(409);
  await verify({});
  expect((await certificate()).status).toBe(200);
  expect((await record()).score).not.toBe(20);
  expect((await reported("soc2/control-coverage", "CC7.1, CC7.2")).status).not.toBe("not_met");
  const { entries } = await world.admin.get("/v1/admin/admin-log?resource=audit-chains");
  expect(entries.map(({ after }: any) => after.verdict).slice(1)).toEqual(["altered"]);
  await database.end();
});

test("an acknowledged finding is named in certificates and no longer blocks them, until another is found", async () => {
  const captured = await owner.post(at("/assurance"), {});
  const [{ chain_id: chain }] = captured.report.ledger;
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  const addToStatus = () =>
    database.query("UPDATE audit_rows SET http_status_code = http_status_code + 1 WHERE chain_id = $1 AND chain_seq = 1", [chain]);
  const path = `/v1/admin/audit/chains/${chain}`;
  const record = async () => (await owner.get(at("/health"))).components.find(({ id }: any) => id === "record");
  const certificate = () => document(at(`/assurance/history/${captured.id}/export`));
  const counted = async (labels: string) =>
    Number(
      (await (await fetch(`${world.gateway.adminUrl}/metrics`)).text())
        .split("\n")
        .find((line) => line.startsWith(`gatehouse_ledger_verifications_total{${labels}} `))
        ?.split(" ")[1] ?? 0,
    );

  await addToStatus();
  const [finding] = (await owner.post(`${path}/verify`, {})).findings;
  expect(finding).toMatchObject({
    verdict: "altered",
    chain_seq: 1,
    through_seq: 1,
    acknowledged_at: null,
    acknowledged_by: null,
    note: null,
  });
  expect([(await record()).score, (await certificate()).status]).toEqual([20, 409]);

  const note = "Incident 17: restored by hand.";
  const refusal = async (body: object) => (await owner.request("POST", `${path}/ack`, body)).status;
  expect(await refusal({ finding_ids: [finding.id], note: " " })).toBe(400);
  expect(await refusal({ finding_ids: [finding.id, "0".repeat(64)], note })).toBe(404);
  expect((await record()).score).toBe(20);
  const known = await owner.post(`${path}/ack`, { finding_ids: [finding.id], note });
  expect([known.verdict, known.unacknowledged]).toEqual(["altered", 0]);
  expect(known.findings).toEqual([{ ...finding, acknowledged_at: expect.any(String), acknowledged_by: "owner", note }]);
  expect(await owner.post(`${path}/ack`, { finding_ids: [finding.id], note: "again" })).toMatchObject({ findings: known.findings });

  expect(await record()).toMatchObject({ score: 100, detail: expect.stringContaining(note) });
  const { predicate } = JSON.parse(Buffer.from(JSON.parse((await certificate()).text).payload, "base64").toString());
  expect(predicate.limits.at(-1)).toContain(`Chain ${chain} was verified as altered`);
  expect(predicate.limits.at(-1)).toContain(`acknowledged by owner`);
  const soc2 = await owner.get("/v1/admin/compliance/soc2/control-coverage");
  const monitoring = soc2.items.find(({ control }: any) => control === "CC7.1, CC7.2");
  expect([monitoring.status === "met", monitoring.reason]).toEqual([false, expect.stringContaining(note)]);

  // A tenant's acknowledgement does not count for the system administrator.
  const before = await counted('verdict="altered"');
  expect((await owner.post(`${path}/verify`, {})).unacknowledged).toBe(0);
  expect((await world.admin.post(`${path}/verify`, {})).unacknowledged).toBe(1);
  expect([await counted('verdict="altered"'), await counted('verdict="altered",acknowledged="true"')]).toEqual([before + 2, 0]);
  expect((await world.admin.post(`${path}/ack`, { finding_ids: [finding.id], note: "for all" })).unacknowledged).toBe(0);
  const quiet = await counted('verdict="altered",acknowledged="true"');
  await world.admin.post(`${path}/verify`, {});
  expect([await counted('verdict="altered"'), await counted('verdict="altered",acknowledged="true"')]).toEqual([before + 2, quiet + 1]);

  const { entries } = await owner.get("/v1/admin/admin-log?resource=audit-chains&action=acknowledge");
  expect(entries.map(({ actor_username: who, resource_id: id, after }: any) => [who, id, after.note, after.findings[0].id])).toEqual([
    ["owner", chain, note, finding.id],
  ]);

  await addToStatus();
  const again = await owner.post(`${path}/verify`, { from_seq: 1, to_seq: 1 });
  expect(again.findings).toContainEqual(expect.objectContaining({ verdict: "altered", chain_seq: 1, acknowledged_at: null }));
  expect([(await record()).score, (await certificate()).status]).toEqual([20, 409]);
  await database.query("UPDATE audit_rows SET http_status_code = http_status_code - 2 WHERE chain_id = $1 AND chain_seq = 1", [chain]);
  expect((await owner.post(`${path}/verify`, {})).findings).toEqual([]);
  await database.end();
});

test("an acknowledged unanchored end of a chain lowers no score until rows are added to it", async () => {
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  const chain = "01JQ0000000000000000000GNE";
  const begin = `INSERT INTO audit_chains (chain_id, writer, head_seq, head_hash, updated_at) SELECT $1, 'gone', 1, row_hash, now() - interval '1 hour' FROM copied`;
  const copied = `WITH copied AS (INSERT INTO audit_rows SELECT (jsonb_populate_record(r, jsonb_build_object('id', $2::text, 'chain_id', $1::text, 'chain_seq', $3::int, 'created_at', now() - interval '1 hour'))).* FROM audit_rows r WHERE chain_seq = 1 ORDER BY id LIMIT 1 RETURNING row_hash)`;
  await database.query(`${copied} ${begin}`, [chain, "01JQ0000000000000000000G01", 1]);
  const path = `/v1/admin/audit/chains/${chain}`;
  const record = async () => (await owner.get(at("/health"))).components.find(({ id }: any) => id === "record").score;
  expect(await record()).toBe(80);

  const found = await owner.post(`${path}/verify`, {});
  const ids = found.findings.map(({ id }: any) => id);
  expect(found.findings.map(({ verdict }: any) => verdict)).toContain("unanchored");
  await owner.post(`${path}/ack`, { finding_ids: ids, note: "Its machine is gone." });
  expect(await record()).toBe(100);

  await database.query(`${copied} UPDATE audit_chains SET head_seq = 2, head_hash = repeat('ab', 32) WHERE chain_id = $1`, [
    ...[chain, "01JQ0000000000000000000G02", 2],
  ]);
  expect(await record()).toBe(80);
  await database.query("DELETE FROM audit_chains WHERE chain_id = $1", [chain]);
  await database.query("DELETE FROM audit_rows WHERE chain_id = $1", [chain]);
  await database.query("DELETE FROM chain_faults WHERE chain_id = $1", [chain]);
  await database.end();
});

test("an assurance report names all attached evidence, beyond one page of it", async () => {
  const database = new pg.Client({ connectionString: world.databaseUrl });
  await database.connect();
  await database.query(
    `INSERT INTO ai_system_evidence (id, tenant_id, ai_system_id, kind, uri, sha256)
     SELECT gen_random_uuid(), 'default', $1, 'policy', 'https://documents.example/' || n, repeat('a', 64) FROM generate_series(1, 205) n`,
    [team.groupId],
  );
  await database.end();
  const { report } = await owner.post(at("/assurance"), {});
  expect(new Set(report.evidence.map(({ uri }: any) => uri)).size).toBe(205);
});
