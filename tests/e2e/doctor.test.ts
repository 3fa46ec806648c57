import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { doctorCommand } from "../../server/cli/doctor.ts";
import { testDatabase } from "../support/database.ts";
import { removeDirectory, temporaryDirectory } from "../support/gateway.ts";
import { haveValkey, startValkey } from "../support/valkey.ts";

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

test("an embedded database whose password is gone is not taken for none", async () => {
  await mkdir(join(directory, "postgresql", "cluster"), { recursive: true });
  expect((await doctor()).findings.at(-1)).toEqual({
    state: "wrong",
    about: "database",
    detail: `the database in ${directory} was made with a password that is gone: put ${directory}/secrets/postgresql-password back`,
  });
});

test("what a start would refuse over permissions is wrong before it", async () => {
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

test.skipIf(!haveValkey)("a Valkey that answers is told from one that is away, and from one that may drop counters", async () => {
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
