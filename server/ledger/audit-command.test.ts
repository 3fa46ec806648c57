import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { auditCommand } from "../cli/audit.ts";
import { checkpointFile } from "./checkpoints/checkpoint-file.ts";
import { listChains } from "./chains/chain-facts.ts";
import type { Ledger } from "./ledger.ts";
import { callRow, recordedLog, SIGNING_KEY, temporaryDirectory, testLedger } from "./test-support.ts";

const MINE = "33333333-3333-4333-8333-333333333333";
const OTHERS = "44444444-4444-4444-8444-444444444444";

let database: TestDatabase;
let chain: string;
let ledger: Ledger;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

/** Twenty rows alternating between two tenants, with a checkpoint at 20. */
beforeEach(async () => {
  ledger = await testLedger(database.db, temporaryDirectory());
  chain = ledger.chainId;
  for (let seq = 1; seq <= 20; seq++) await ledger.seal(callRow({ tenant_id: seq % 2 === 0 ? MINE : OTHERS }));
  await ledger.close();
});
afterEach(() => sql`TRUNCATE audit_rows, audit_chains, audit_checkpoints`.execute(database.db));

const edit = (statement: string) => sql.raw(statement.replaceAll("CHAIN", `chain_id = '${chain}'`)).execute(database.db);

describe("gatehouse audit", () => {
  async function run(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
    let out = "";
    let err = "";
    const code = await auditCommand(argv, { stdout: (text) => void (out += text), stderr: (text) => void (err += text) });
    return { code, out, err };
  }

  test("prints its usage when called without an action or with an unknown one", async () => {
    expect(await run()).toMatchObject({ code: 3, out: "", err: expect.stringMatching(/^gatehouse audit: say what to do\nUsage:/) });
    expect(await run("prove")).toMatchObject({
      code: 3,
      out: "",
      err: expect.stringMatching(/^gatehouse audit: cannot understand "audit prove"\nUsage:/),
    });
  });

  test("verifies the database and an exported file, with the verdict as the exit code", async () => {
    const directory = temporaryDirectory();
    const [file, key] = [join(directory, "chain.jsonl"), join(directory, "key.pem")];
    writeFileSync(key, createPublicKey(createPrivateKey(SIGNING_KEY)).export({ format: "pem", type: "spki" }));
    const url = ["--database-url", database.url];
    writeFileSync(file, (await run("export", "--chain", chain, ...url)).out);
    expect(await run("verify", file)).toMatchObject({ code: 0, out: expect.stringContaining("NOTE") });
    const trusted = await run("verify", file, "--public-key", key, "--json");
    expect(trusted.code).toBe(0);
    expect(JSON.parse(trusted.out)).toMatchObject({ verdict: "intact", keys_from_export: false, rows_checked: 20 });
    expect((await run("verify", ...url)).code).toBe(0);

    await edit("UPDATE audit_rows SET success = false WHERE CHAIN AND chain_seq = 7");
    expect(await run("verify", ...url, "--chain", chain)).toMatchObject({ code: 2, out: expect.stringContaining("altered") });
    expect(await run("verify", file)).toMatchObject({ code: 0 });
    writeFileSync(file, (await run("export", "--chain", chain, ...url)).out.split("\n").slice(0, -5).join("\n"));
    expect(await run("verify", file, "--chain", chain)).toMatchObject({ code: 2, out: expect.stringContaining("missing") });
  });

  test("accepts a restored backup by itself, and reports missing rows against checkpoints kept elsewhere", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "checkpoints.jsonl");
    const kept = await testLedger(database.db, directory, { checkpointed: checkpointFile(file, recordedLog()).keep });
    const url = ["--database-url", database.url, "--chain", kept.chainId];
    for (let i = 0; i < 3; i++) await kept.seal(callRow());
    await kept.close();
    const backup = await database.db.selectFrom("audit_chains").selectAll().where("chain_id", "=", kept.chainId).executeTakeFirstOrThrow();
    const again = await testLedger(database.db, directory, { checkpointed: checkpointFile(file, recordedLog()).keep });
    for (let i = 0; i < 2; i++) await again.seal(callRow());
    await again.close();
    expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(2);
    const printed = join(directory, "printed.jsonl");
    writeFileSync(printed, (await run("checkpoints", ...url)).out);
    expect(readFileSync(printed, "utf8")).toBe(readFileSync(file, "utf8"));
    expect((await run("verify", ...url, "--checkpoints", file)).code).toBe(0);
    const restored = join(directory, "restored.jsonl");

    await sql`DELETE FROM audit_rows WHERE chain_id = ${kept.chainId} AND chain_seq > 3`.execute(database.db);
    await sql`DELETE FROM audit_checkpoints WHERE chain_id = ${kept.chainId} AND chain_seq > 3`.execute(database.db);
    await database.db
      .updateTable("audit_chains")
      .set({ head_seq: backup.head_seq, head_hash: backup.head_hash, last_checkpoint_seq: backup.last_checkpoint_seq })
      .where("chain_id", "=", kept.chainId)
      .execute();
    expect((await run("verify", ...url)).code).toBe(0);
    expect(await run("verify", ...url, "--checkpoints", file)).toMatchObject({
      code: 2,
      out: expect.stringContaining("rows 4 to 5 are missing"),
    });
    writeFileSync(restored, (await run("export", ...url)).out);
    expect(await run("verify", restored, "--checkpoints", printed)).toMatchObject({ code: 2, out: expect.stringContaining("missing") });

    await sql`DELETE FROM audit_chains WHERE chain_id = ${kept.chainId}`.execute(database.db);
    await sql`DELETE FROM audit_rows WHERE chain_id = ${kept.chainId}`.execute(database.db);
    await sql`DELETE FROM audit_checkpoints WHERE chain_id = ${kept.chainId}`.execute(database.db);
    for (const which of [[], ["--chain", kept.chainId]])
      expect(await run("verify", "--database-url", database.url, ...which, "--checkpoints", file)).toMatchObject({
        code: 2,
        out: expect.stringContaining("of a chain the database does not have"),
      });
    writeFileSync(file, readFileSync(file, "utf8").replace("\\n4\\n", "\\n6\\n").replace("\\n5\\n", "\\n6\\n"));
    expect((await run("verify", restored, "--checkpoints", file)).code).toBe(3);
  });

  test("reads a checkpoint file past a torn line, and rejects a file that has none", async () => {
    const directory = temporaryDirectory();
    const file = join(directory, "checkpoints.jsonl");
    const url = ["--database-url", database.url];
    const kept = await testLedger(database.db, directory, { checkpointed: checkpointFile(file, recordedLog()).keep });
    await kept.seal(callRow());
    await kept.close();
    writeFileSync(file, readFileSync(file).subarray(0, 100));
    await (await testLedger(database.db, directory, { checkpointed: checkpointFile(file, recordedLog()).keep })).close();
    expect(readFileSync(file, "utf8").trimEnd().split("\n")).toHaveLength(2);
    expect((await run("verify", ...url, "--chain", kept.chainId, "--checkpoints", file)).code).toBe(0);
    await sql`DELETE FROM audit_chains WHERE chain_id = ${kept.chainId}`.execute(database.db);
    await sql`DELETE FROM audit_rows WHERE chain_id = ${kept.chainId}`.execute(database.db);
    await sql`DELETE FROM audit_checkpoints WHERE chain_id = ${kept.chainId}`.execute(database.db);
    expect(await run("verify", ...url, "--checkpoints", file)).toMatchObject({
      code: 2,
      out: expect.stringContaining("of a chain the database does not have"),
    });
    writeFileSync(file, "hello\n");
    expect((await run("verify", ...url, "--checkpoints", file)).code).toBe(3);
  });

  test("refuses a checkpoint file without a checkpoint of the chain", async () => {
    const directory = temporaryDirectory();
    const [none, others, whole] = ["none.jsonl", "others.jsonl", "exported.jsonl"].map((name) => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const url = ["--database-url", database.url];
    const other = await testLedger(database.db, temporaryDirectory(), { checkpointed: checkpointFile(others, recordedLog()).keep });
    await other.seal(callRow());
    await other.close();
    writeFileSync(none, "");
    writeFileSync(whole, (await run("export", ...url, "--chain", chain)).out);
    expect(await run("verify", ...url, "--checkpoints", none)).toEqual({
      code: 3,
      out: "",
      err: `gatehouse audit: ${none}: holds no checkpoint\n`,
    });
    expect(await run("verify", ...url, "--chain", chain, "--checkpoints", others)).toEqual({
      code: 3,
      out: "",
      err: `gatehouse audit: ${others}: holds no checkpoint of chain ${chain}\n`,
    });
    expect(await run("verify", whole, "--checkpoints", others)).toEqual({
      code: 3,
      out: "",
      err: `gatehouse audit: the kept checkpoints are of other chains than ${chain}\n`,
    });
    expect((await run("verify", ...url, "--chain", other.chainId, "--checkpoints", others)).code).toBe(0);
  });

  test("verifies against checkpoints of a gateway whose clock is ahead", async () => {
    const file = join(temporaryDirectory(), "checkpoints.jsonl");
    const ahead = () => Date.now() + 86_400_000;
    const kept = await testLedger(database.db, temporaryDirectory(), {
      clock: { now: ahead, micros: () => ahead() * 1000 },
      checkpointed: checkpointFile(file, recordedLog()).keep,
    });
    for (let i = 0; i < 3; i++) await kept.seal(callRow());
    await kept.close();
    await sql`DELETE FROM audit_rows WHERE chain_id = ${kept.chainId} AND chain_seq > 1`.execute(database.db);
    await sql`DELETE FROM audit_checkpoints WHERE chain_id = ${kept.chainId}`.execute(database.db);
    await sql`UPDATE audit_chains SET head_seq = 1, head_hash = (SELECT row_hash FROM audit_rows WHERE chain_id = ${kept.chainId}), last_checkpoint_seq = NULL WHERE chain_id = ${kept.chainId}`.execute(
      database.db,
    );
    expect(await run("verify", "--database-url", database.url, "--chain", kept.chainId, "--checkpoints", file)).toMatchObject({
      code: 2,
      out: expect.stringContaining("rows 2 to 3 are missing"),
    });
  });

  test("reports rows of a chain without a record, and rows without a chain", async () => {
    const url = ["--database-url", database.url];
    await sql`INSERT INTO audit_rows (id, chain_id, chain_seq) VALUES ('zforged', 'zother', 1)`.execute(database.db);
    expect((await listChains(database.db)).map(({ chain_id, writer }) => [chain_id, writer === ""])).toEqual([
      [chain, false],
      ["zother", true],
    ]);
    expect(await run("verify", ...url)).toMatchObject({ code: 2, out: expect.stringMatching(/chain {9}zother\nverdict {7}altered\n/) });
    await sql`UPDATE audit_rows SET chain_id = NULL WHERE id = 'zforged'`.execute(database.db);
    expect(await run("verify", ...url)).toMatchObject({ code: 2, out: expect.stringContaining("1 row(s) name no chain") });
    expect((await run("verify", ...url, "--chain", chain)).code).toBe(0);
  });

  test("reports why it could not run", async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, "other.txt"), "hello\n");
    expect(await run("verify", join(directory, "none.jsonl"))).toMatchObject({ code: 3, err: expect.stringContaining("no such file") });
    expect(await run("verify", join(directory, "other.txt"))).toMatchObject({ code: 3, err: expect.stringContaining("line 1") });
    expect((await run("verify", "--data-dir", directory)).code).toBe(3);
    expect((await run("verify", "--chain", "nope", "--database-url", database.url)).code).toBe(3);
    expect(await run("checkpoints", "--chain", "nope", "--database-url", database.url)).toMatchObject({
      code: 3,
      err: expect.stringContaining("no such audit chain"),
    });
    expect((await run("frobnicate")).code).toBe(3);
  });
});
