import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { sql } from "kysely";
import { doctorCommand } from "../../../server/cli/doctor.ts";
import { journalShare } from "../../../server/kernel/configuration/group-size.ts";
import { systemClock } from "../../../server/kernel/clock.ts";
import { checkpointFile } from "../../../server/ledger/checkpoints/checkpoint-file.ts";
import { callRow, copyAsCrashed, recordedLog, testLedger } from "../../../server/ledger/test-support.ts";
import { testDatabase } from "../../support/database.ts";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { haveValkey, startValkey } from "../../support/processes/valkey.ts";

let directory: string;
beforeEach(async () => {
  directory = await temporaryDirectory();
  await chmod(directory, 0o700);
});
afterEach(() => removeDirectory(directory));

async function doctor(
  env: Record<string, string> = {},
): Promise<{ code: number; findings: { state: string; about: string; detail: string }[] }> {
  let printed = "";
  const code = await doctorCommand(
    ["--json"],
    { GW_DATA_DIR: directory, ...env },
    { stdout: (text) => void (printed += text), stderr: () => undefined },
  );
  return { code, findings: JSON.parse(printed).findings };
}

test("a data directory without a database is ready for a first start", async () => {
  const { code, findings } = await doctor();
  expect(code).toBe(0);
  expect(findings.at(-1)).toEqual({
    state: "warning",
    about: "database",
    detail: `there is none in ${directory} yet: the next start makes it, unless DATABASE_URL is given`,
  });
});

test("an embedded database whose password is missing is reported as wrong, not as absent", async () => {
  await mkdir(join(directory, "postgresql", "cluster"), { recursive: true });
  expect((await doctor()).findings.at(-1)).toEqual({
    state: "wrong",
    about: "database",
    detail: `the database in ${directory} was made with a password that is gone: put ${directory}/secrets/postgresql-password back`,
  });
});

test("file permissions that a start would refuse are reported as wrong", async () => {
  const database = await testDatabase();
  await mkdir(join(directory, "secrets"), { mode: 0o755 });
  await writeFile(join(directory, "secrets", "jwt-secret"), "x".repeat(32), { mode: 0o644 });
  const { code, findings } = await doctor({ DATABASE_URL: database.url });
  expect(code).toBe(1);
  expect(findings.filter(({ state }) => state === "wrong").map(({ detail }) => detail)).toEqual([
    `${directory}/secrets is open to other users (mode 755): take their access away with chmod go= first`,
    `${directory}/secrets/jwt-secret is open to other users (mode 644): take their access away with chmod go= first`,
  ]);
  await database.close();
});

test("the journals of all processes are checked against their shared limit", async () => {
  for (const home of [directory, join(directory, "processes", "2")]) {
    await mkdir(join(home, "journal"), { recursive: true, mode: 0o700 });
    await writeFile(join(home, "journal", "journal-0000000001.log"), Buffer.alloc(1024 * 1024));
  }
  await chmod(join(directory, "processes", "2", "journal"), 0o755);
  const { code, findings } = await doctor({ GW_PROCESSES: "4", GW_AUDIT_JOURNAL_MAX_MB: "100" });
  expect(code).toBe(1);
  expect(findings.find(({ about }) => about === "journal")?.detail).toBe("2 segment(s), 2 MiB of 100 those of 4 processes may take");
  expect(findings.find(({ state }) => state === "wrong")?.detail).toContain("processes/2/journal is open to other users (mode 755)");
});

test("each process gets its share of the journal limit, but at least what calls need", () => {
  const mib = 1024 * 1024;
  expect([journalShare(4096 * mib, 1), journalShare(4096 * mib, 8), journalShare(16 * mib, 8)]).toEqual([4096 * mib, 512 * mib, 16 * mib]);
});

test("a database migrated by a newer release is reported as wrong", async () => {
  const database = await testDatabase();
  const known = sql`INSERT INTO schema_migrations (name, digest) VALUES ('9999_next_release.sql', '')`;
  await known.execute(database.db);
  const { code, findings } = await doctor({ DATABASE_URL: database.url });
  expect(code).toBe(1);
  expect(findings.at(-1)).toEqual({
    state: "wrong",
    about: "database",
    detail:
      "the database was migrated by a newer release (it has 9999_next_release.sql): start that release, or restore the backup that " +
      "was made before it with this one",
  });
  await database.close();
});

test.skipIf(!haveValkey)("a reachable Valkey is ok, one that may evict counters a warning, and an unreachable one wrong", async () => {
  const valkey = await startValkey();
  const of = async () => (await doctor({ VALKEY_URL: valkey.url })).findings.filter(({ about }) => about === "valkey");
  expect(await of()).toEqual([{ state: "ok", about: "valkey", detail: expect.stringMatching(/^version \d+\.\S+ answers$/) }]);
  const client = new Bun.RedisClient(valkey.url);
  await client.send("CONFIG", ["SET", "maxmemory-policy", "allkeys-lru"]);
  client.close();
  expect(await of()).toEqual([
    {
      state: "warning",
      about: "valkey",
      detail: "maxmemory-policy is allkeys-lru: a server short of memory drops counters; set noeviction",
    },
  ]);
  await valkey.stop();
  expect(await of()).toEqual([
    { state: "wrong", about: "valkey", detail: expect.stringContaining("it is away, or refuses the user or password: ") },
  ]);
});

test("a GW_HOST that is not an address of this machine is reported as wrong", async () => {
  const of = async (host: string) => (await doctor({ GW_HOST: host })).findings.find(({ about }) => about === "address");
  expect(await of("127.0.0.1")).toEqual({ state: "ok", about: "address", detail: "GW_HOST 127.0.0.1 can be listened on" });
  expect(await of("192.0.2.1")).toEqual({
    state: "wrong",
    about: "address",
    detail: expect.stringMatching(/^GW_HOST 192\.0\.2\.1 cannot be listened on: is GW_HOST an address of this machine\?/),
  });
});

test("a knowledge folder is reported as missing, not a folder, or readable", async () => {
  const folder = join(directory, "knowledge");
  const of = async () => (await doctor({ GW_KNOWLEDGE_DIR: folder })).findings.find(({ about }) => about === "knowledge folder");
  expect(await of()).toEqual({ state: "wrong", about: "knowledge folder", detail: `${folder} is not there` });
  await writeFile(folder, "");
  expect(await of()).toEqual({ state: "wrong", about: "knowledge folder", detail: `${folder} is no folder` });
  await rm(folder);
  await mkdir(join(folder, "default"), { recursive: true });
  expect(await of()).toEqual({ state: "ok", about: "knowledge folder", detail: `${folder} can be read, and has folders of 1 tenant(s)` });
  expect((await doctor()).findings.filter(({ about }) => about === "knowledge folder")).toEqual([]);
});

test("a checkpoint file is reported without a folder, as a folder, or in the same place as the ledger it is to prove", async () => {
  const elsewhere = await temporaryDirectory();
  const of = async (file: string) =>
    (await doctor({ GW_AUDIT_CHECKPOINT_FILE: file })).findings.find(({ about }) => about === "checkpoint file");
  const said = async (file: string) => Object.values((await of(file)) ?? {}).join(" ");
  expect(await said(join(elsewhere, "checkpoints"))).toBe(`ok checkpoint file ${elsewhere}/checkpoints is made with the next checkpoint`);
  expect(await said(join(elsewhere, "none", "checkpoints"))).toBe(
    `wrong checkpoint file ${elsewhere}/none is not there, and is not made for the checkpoint file`,
  );
  expect(await said(elsewhere)).toBe(`wrong checkpoint file ${elsewhere} is no file`);
  expect(await said(join(directory, "checkpoints"))).toStartWith("warning checkpoint file ");
  await removeDirectory(elsewhere);
});

test("rows dated in the future by a clock that was set back are reported", async () => {
  const database = await testDatabase();
  const ahead = systemClock();
  const clock = { now: () => ahead.now() + 3_600_000, micros: () => ahead.micros() + 3_600_000_000 };
  const ledger = await testLedger(database.db, join(directory, "ledger"), { clock });
  const row = callRow();
  await ledger.seal(row);
  await ledger.shipped();
  await ledger.close();
  const { findings } = await doctor({ DATABASE_URL: database.url });
  expect(findings.filter(({ about }) => about === "clock")).toEqual([
    {
      state: "warning",
      about: "clock",
      detail: expect.stringMatching(
        new RegExp(`^row ${String(row["id"])} is dated 3(?:600|59\\d) s in the future: the clock of its process was ahead`),
      ),
    },
  ]);
  await sql`UPDATE audit_rows SET created_at = now()`.execute(database.db);
  expect((await doctor({ DATABASE_URL: database.url })).findings).toContainEqual({
    state: "ok",
    about: "clock",
    detail: "agrees with the database's, and no row is dated after it",
  });
  await database.close();
});

test("a chain that was rolled back and continued is checked against all its checkpoints in the checkpoint file", async () => {
  const database = await testDatabase();
  const file = join(directory, "..", `${basename(directory)}.checkpoints`);
  const home = join(directory, "journal");
  const goOn = async (rows: number) => {
    const { keep } = checkpointFile(file, recordedLog());
    const ledger = await testLedger(database.db, home, { checkpointed: keep });
    for (let row = 0; row < rows; row++) await ledger.seal(callRow());
    await ledger.close();
    return ledger.chainId;
  };
  const chain = await goOn(2);
  const said = async () =>
    (await doctor({ DATABASE_URL: database.url, GW_AUDIT_CHECKPOINT_FILE: file })).findings
      .filter(({ about }) => about === "audit chain")
      .map(({ state, detail }) => `${state} ${detail}`);
  expect(await said()).toEqual([expect.stringContaining(`ok ${chain} intact`)]);

  const yesterday = copyAsCrashed(home);
  await goOn(2);
  // Yesterday's backup restored over today, both journal and database, as someone who owns both could.
  await removeDirectory(home);
  await cp(yesterday, home, { recursive: true });
  await sql`DELETE FROM audit_rows WHERE chain_seq > 2`.execute(database.db);
  await sql`DELETE FROM audit_checkpoints WHERE chain_seq > 2`.execute(database.db);
  await sql`UPDATE audit_chains SET head_seq = 2, head_hash = (SELECT row_hash FROM audit_rows WHERE chain_seq = 2), last_checkpoint_seq = 2`.execute(
    database.db,
  );
  await goOn(6);
  expect(await said()).toEqual([expect.stringMatching(new RegExp(`^wrong ${chain} altered .*: row 4 is not the row that`))]);
  await database.close();
});
