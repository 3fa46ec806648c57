import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AdminClient, rowsOf, type Served, serveModels, signIn } from "../../support/worlds/admin.ts";
import { testDatabase } from "../../support/database.ts";
import { type FakeUpstream, startFakeUpstream } from "../../support/vendors/fake-upstream.ts";
import { type GatewayProcess, removeDirectory, startGateway, temporaryDirectory } from "../../support/gateway.ts";
import { newPerson } from "../../support/worlds/portal.ts";
import { backupCommand } from "../../../server/cli/backup.ts";
import { restoreCommand } from "../../../server/cli/restore.ts";

/** A backup of a running gateway, restored next to it: everything recorded, stored and encrypted is there as before. */
const LAUNCHER = fileURLToPath(new URL("../../../bin/gatehouse.mjs", import.meta.url));

let upstream: FakeUpstream;
let gateway: GatewayProcess;
let admin: AdminClient;
let served: Served;
let folder: string;
let backup: string;
const others: GatewayProcess[] = [];

beforeAll(async () => {
  upstream = startFakeUpstream();
  folder = await temporaryDirectory();
  backup = join(folder, "gateway.backup");
  gateway = await startGateway({ env: { GW_QUICKSTART: "off" } });
  admin = await signIn(gateway.adminUrl);
  served = await serveModels(admin, upstream.baseUrl, ["fake-1"]);
  await newPerson(gateway.runtimeUrl, "somebody");
  for (let i = 0; i < 25; i++) expect((await chat(gateway, `before ${i}`)).status).toBe(200);
  await admin.request("PATCH", `/v1/admin/resource-groups/${served.groupId}/llm-global-limits`, {
    llm_global_limits: { requests: { daily_limit: 30 } },
  });
  await rowsOf(admin, { proxy_subtype: "chat_completions" }, 25);
});

afterAll(async () => {
  for (const one of [gateway, ...others]) await one.stop();
  await upstream.stop();
  for (const path of [folder, gateway.dataDir, ...others.map(({ dataDir }) => dataDir)]) await removeDirectory(path);
});

function chat({ runtimeUrl }: GatewayProcess, text: string): Promise<Response> {
  return fetch(`${runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: text }] }),
  });
}

async function command(args: readonly string[], env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  const { DATABASE_URL: _, ...rest } = process.env;
  const child = spawn("node", [LAUNCHER, ...args], { env: { ...rest, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece) => (output += piece));
  const code = await new Promise<number>((resolve) => child.on("close", (value) => resolve(value ?? 1)));
  return { code, output };
}

test("a running gateway is backed up into a file that only its owner can read, and that can be verified", async () => {
  const made = await command(["backup", backup, "--data-dir", gateway.dataDir]);
  expect(made.output).toContain("3 secrets");
  expect(made).toMatchObject({ code: 0 });
  expect(statSync(backup).mode & 0o077).toBe(0);
  const examined = await command(["backup", "--verify", backup]);
  expect(examined).toMatchObject({ code: 0 });
  expect(examined.output).toContain(": whole, of ");
  expect(await command(["backup", backup, "--data-dir", gateway.dataDir])).toMatchObject({
    code: 1,
    output: `gatehouse backup: ${backup} is there already\n`,
  });
});

test("a backup restored into an embedded database has all records, rows, chains, secrets, people and usage", async () => {
  // What came after the backup is not in it.
  expect((await chat(gateway, "after")).status).toBe(200);
  const dataDir = join(folder, "restored");
  const restored = await command(["restore", backup, "--data-dir", dataDir]);
  expect(restored.output).toMatch(/chain admin-log +intact over \d+ rows/);
  expect(restored.output).toMatch(/^secret key +opens 1 stored secret\(s\): 1 keys of providers$/m);
  expect(restored.code).toBe(0);

  const again = await startGateway({ dataDir });
  others.push(again);
  const back = await signIn(again.adminUrl);
  const rows = await rowsOf(back, { proxy_subtype: "chat_completions" }, 25);
  expect(rows).toHaveLength(25);
  const before = (await rowsOf(admin, { proxy_subtype: "chat_completions" }, 25)).filter((row) => rows.some(({ id }) => id === row.id));
  expect(rows).toEqual(before);
  // The provider's key, encrypted in the database, can be decrypted with the restored secret; five of the quota of thirty are left.
  const seen = upstream.seen.length;
  const statuses: number[] = [];
  for (let i = 0; i < 7; i++) statuses.push((await chat(again, `restored ${i}`)).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect(upstream.seen.at(seen)?.headers["authorization"]).toBe("Bearer sk-upstream-secret-0001");
  const { chains } = await back.get("/v1/admin/audit/chains");
  expect(chains).toHaveLength(2);
  const { chains: backedUp } = await admin.get("/v1/admin/audit/chains");
  for (const { chain_id } of chains) {
    const verified = await back.post(`/v1/admin/audit/chains/${chain_id}/verify`, {});
    expect(verified).toMatchObject({ verdict: "intact", findings: [] });
    // The chain's writer is gone and signs no more checkpoints, but the backup made one.
    if (backedUp.some((one: { chain_id: string }) => one.chain_id === chain_id)) expect(verified).toMatchObject({ pending_anchor: 0 });
  }
  const doctor = await command(["doctor"], { GW_DATA_DIR: dataDir });
  expect(doctor.output).not.toMatch(/^wrong/m);
});

test("a backup is restored into an external PostgreSQL only if that is empty", async () => {
  const database = await testDatabase();
  const dataDir = join(folder, "beside");
  const full = await command(["restore", backup, "--data-dir", dataDir, "--database-url", database.url]);
  expect(full).toMatchObject({ code: 3 });
  expect(full.output).toContain("has tables already: a backup goes into an empty database");
  await database.db.executeQuery({ sql: "DROP SCHEMA public CASCADE", parameters: [] } as never);
  await database.db.executeQuery({ sql: "CREATE SCHEMA public", parameters: [] } as never);
  const anotherKey = { GW_SECRET_KEY: Buffer.alloc(32, 7).toString("base64") };
  const restored = await command(["restore", backup, "--data-dir", dataDir, "--database-url", database.url], anotherKey);
  expect(restored).toMatchObject({ code: 0 });
  expect(restored.output).toContain("opens 0 of 1 stored secrets, not 1 keys of providers, first that of providers ");
  // Triggers and foreign keys are enabled again.
  const { rows } = await database.db.executeQuery<{ off: string; references: string }>({
    sql: `SELECT (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'O') AS off,
            (SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND NOT convalidated) AS references`,
    parameters: [],
  } as never);
  expect(rows.map(({ off, references }) => [Number(off), Number(references)])).toEqual([[0, 0]]);
  await database.close();

  const taken = await command(["restore", backup, "--data-dir", gateway.dataDir]);
  expect(taken).toMatchObject({ code: 3 });
  expect(taken.output).toContain("is in use by process");
});

test("a database whose columns are in another order after upgrades is backed up and restored", async () => {
  const grown = await testDatabase();
  const run = (sql: string) => grown.db.executeQuery({ sql, parameters: [] } as never);
  await run("INSERT INTO tenants (id, name, display_name, data_retention) VALUES ('acme', 'acme', 'Acme', '{}')");
  await run("ALTER TABLE tenants RENAME COLUMN display_name TO before");
  await run("ALTER TABLE tenants ADD COLUMN display_name text");
  await run("UPDATE tenants SET display_name = before");
  await run("ALTER TABLE tenants DROP COLUMN before");
  const made = join(folder, "grown.backup");
  expect(await command(["backup", made, "--database-url", grown.url, "--data-dir", folder])).toMatchObject({ code: 0 });
  const restored = await command(["restore", made, "--data-dir", join(folder, "regrown")]);
  expect(restored.output).toContain("read back as they were written");
  expect(restored.code).toBe(0);

  // No release could restore such a backup: this one does not know the schema, and the newer one did not make it.
  await run("INSERT INTO schema_migrations (name, digest) VALUES ('9999_next_release.sql', '')");
  const newer = await command(["backup", join(folder, "newer.backup"), "--database-url", grown.url, "--data-dir", folder]);
  expect(newer).toMatchObject({ code: 1 });
  expect(newer.output).toContain("migrated by a newer release (it has 9999_next_release.sql): start that release, or restore");
  await grown.close();
});

test("a restore does not overwrite the secrets of another gateway", async () => {
  const dataDir = join(folder, "another");
  const other = await startGateway({ dataDir, env: { GW_QUICKSTART: "off" } });
  await other.stop();
  expect((await command(["restore", backup, "--data-dir", dataDir])).output).toContain("has a database already");
});

/** Runs a command as `command` does, without a process of its own. */
async function inProcess(run: typeof restoreCommand, args: string[]): Promise<{ code: number; output: string }> {
  let output = "";
  const say = (text: string) => void (output += text);
  return { code: await run(args, {}, { stdout: say, stderr: say }), output };
}

test("a truncated or altered backup is refused", async () => {
  const whole = readFileSync(backup);
  const half = Math.floor(whole.byteLength / 2);
  const damaged = join(folder, "damaged");
  const dataDir = join(folder, "never");
  for (const [at, bytes] of [
    whole.subarray(0, whole.byteLength - 100),
    whole.subarray(0, 1_000),
    whole.subarray(0, whole.byteLength - 1),
    Buffer.concat([whole, Buffer.from("x")]),
    Buffer.concat([whole, Buffer.alloc(512)]),
    Buffer.concat([whole, whole]),
    Buffer.from("not a backup"),
    Buffer.concat([whole.subarray(0, half), Buffer.from([(whole[half] as number) ^ 1]), whole.subarray(half + 1)]),
  ].entries()) {
    writeFileSync(damaged, bytes);
    const [verify, restore] = [
      ["--verify", damaged],
      [damaged, "--data-dir", dataDir],
    ];
    const refusal = { code: 1, output: expect.stringContaining(`${damaged} is `) };
    expect(await inProcess(backupCommand, verify)).toMatchObject(refusal);
    expect(await inProcess(restoreCommand, restore)).toMatchObject({ code: 3 });
    if (at === 0) {
      expect(await command(["backup", ...verify])).toMatchObject(refusal);
      expect(await command(["restore", ...restore])).toMatchObject({ code: 3 });
    }
    expect(existsSync(join(dataDir, "postgresql"))).toBe(false);
    await rm(dataDir, { recursive: true, force: true });
  }
});
