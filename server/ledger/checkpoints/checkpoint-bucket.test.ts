import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sql } from "kysely";
import { BUCKET_KEYS, type FakeBucket, startFakeBucket } from "../../../tests/support/vendors/fake-bucket.ts";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { auditCommand } from "../../cli/audit.ts";
import type { BucketSettings } from "../../kernel/configuration/bucket-settings.ts";
import { outbound } from "../../runtime/outbound.ts";
import { type ObjectBucket, BucketFailed, openBucket } from "../../store/files/bucket.ts";
import { type CheckpointBucket, checkpointBucket } from "./checkpoint-bucket.ts";
import { bucketState } from "./stored-checkpoints.ts";
import { readBucketCheckpoints } from "./bucket-checkpoints.ts";
import { callRow, type RecordedLog, recordedLog, temporaryDirectory, testLedger } from "../test-support.ts";

const NAME = "gatehouse-checkpoints";

let database: TestDatabase;
let store: FakeBucket;
let bucket: ObjectBucket;
let log: RecordedLog;
let keepers: CheckpointBucket[];

const settings = (given: Partial<BucketSettings> = {}): BucketSettings => ({
  bucket: NAME,
  prefix: "fleet/one/",
  region: "eu-central-1",
  endpoint: store.endpoint,
  keys: { ...BUCKET_KEYS, sessionToken: null },
  ...given,
});
const open = (given: Partial<BucketSettings> = {}): ObjectBucket => openBucket(settings(given), outbound({ allowPrivate: true }));
const keeper = (): CheckpointBucket => {
  const made = checkpointBucket(bucket, database.db, log, 1);
  keepers.push(made);
  return made;
};

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());
beforeEach(() => {
  store = startFakeBucket(NAME);
  bucket = open();
  log = recordedLog();
  keepers = [];
});
afterEach(async () => {
  await Promise.all(keepers.map((one) => one.close(1_000)));
  await store.stop();
  await sql`TRUNCATE audit_chains, audit_checkpoints`.execute(database.db);
  await sql`DELETE FROM audit_rows`.execute(database.db);
});

async function chainOf(
  checkpoints: number,
  kept?: CheckpointBucket,
  directory = temporaryDirectory(),
): Promise<{ chainId: string; directory: string }> {
  let chainId = "";
  for (let i = 0; i < checkpoints; i++) {
    const ledger = await testLedger(database.db, directory, kept === undefined ? {} : { checkpointed: kept.keep });
    ({ chainId } = ledger);
    await ledger.seal(callRow());
    await ledger.close();
  }
  return { chainId, directory };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe("the checkpoint bucket", () => {
  test("stores an object only once, returns it, and lists keys page by page", async () => {
    for (const no of [1, 2, 3, 4, 5, 6, 7]) expect(await bucket.putNew(`chain/${no}.jsonl`, `body ${no}`)).toBe(true);
    expect(await bucket.putNew("chain/3.jsonl", "another")).toBe(false);
    expect(await bucket.get("chain/3.jsonl")).toBe("body 3");
    expect(await bucket.get("chain/9.jsonl")).toBeNull();
    expect(await Array.fromAsync(bucket.list("chain/", { after: "chain/2.jsonl" }))).toEqual(
      [3, 4, 5, 6, 7].map((no) => `chain/${no}.jsonl`),
    );
    expect([...store.objects.keys()][0]).toBe("fleet/one/chain/1.jsonl");
  });

  test.each([
    ["a wrong secret", { keys: { ...BUCKET_KEYS, secretAccessKey: "another", sessionToken: null } }, "403 SignatureDoesNotMatch"],
    ["another bucket", { bucket: "not-there" }, "404 NoSuchBucket"],
    ["an unreachable endpoint", { endpoint: "http://127.0.0.1:1" }, "GET http://127.0.0.1:1/gatehouse-checkpoints"],
  ])("reports %s, without the secret", async (_name, given, output) => {
    const failed = (await bucketState(open(given), database.db).catch((error: unknown) => error)) as Error;
    expect(failed).toBeInstanceOf(BucketFailed);
    expect(failed.message).toContain(output);
    expect(failed.message).not.toContain("another");
  });
});

test("each checkpoint is stored as an object of its own once it is in the database", async () => {
  const kept = keeper();
  const { chainId } = await chainOf(3, kept);
  await until(() => store.objects.size === 3);
  expect([...store.objects.keys()].toSorted()).toEqual(
    [1, 2, 3].map((no) => `fleet/one/${chainId}/${String(no).padStart(12, "0")}-${String(no).padStart(16, "0")}.jsonl`),
  );
  expect(await bucketState(bucket, database.db)).toEqual({ kept: 1, lacking: [], contradicting: [], differing: [] });
});

test("an unreachable bucket delays no row, is logged once, and gets all checkpoints once it is reachable", async () => {
  store.away = true;
  const kept = keeper();
  const { chainId } = await chainOf(4, kept);
  await until(() => log.events.length > 0);
  expect(store.objects.size).toBe(0);
  expect(kept.failing()).toBe(true);
  store.away = false;
  store.loseNextAnswer();
  await until(() => store.objects.size === 4);
  await until(() => log.events.length > 1);
  await until(() => !kept.failing());
  expect(log.events.map(({ event }) => event)).toEqual(["audit_checkpoint_bucket_failed", "audit_checkpoint_bucket_recovered"]);
  expect((await readBucketCheckpoints(bucket, chainId)).trimEnd().split("\n")).toHaveLength(4);
});

test("the next start stores the checkpoints that a killed process could not", async () => {
  const { chainId } = await chainOf(5);
  expect(await bucketState(bucket, database.db)).toEqual({ kept: 0, lacking: [chainId], contradicting: [], differing: [] });
  keeper();
  await until(() => store.objects.size === 5);
});

test("a start that is interrupted while storing missing checkpoints leaves no gap, and the next one continues", async () => {
  await sql`INSERT INTO audit_chains (chain_id, writer, head_seq, head_hash, last_checkpoint_seq) VALUES ('long', 'w', 1100, 'h', 1100)`.execute(
    database.db,
  );
  await sql`INSERT INTO audit_checkpoints (chain_id, checkpoint_no, chain_seq, note, signed_at) SELECT 'long', no, no, 'note ' || no, now() FROM generate_series(1, 1100) AS no`.execute(
    database.db,
  );
  const { rows } = await sql<{
    chain_seq: number;
    note: string;
  }>`SELECT chain_seq, note FROM audit_checkpoints WHERE chain_seq = 1100`.execute(database.db);
  const brokenOff = keeper();
  brokenOff.keep(rows.map((row) => ({ chain_id: "long", checkpoint_no: 1100, ...row })));
  await until(() => store.objects.size > 550);
  await brokenOff.close(1_000);
  const there = [...store.objects.keys()];
  expect(there.length).toBeLessThan(1_100);
  expect(there.map((key) => Number(/(\d+)-\d+\.jsonl$/.exec(key)?.[1]))).toEqual(there.map((_, i) => i + 1));
  keeper();
  await until(() => store.objects.size === 1_100);
});

test("a different checkpoint under an existing key is not stored, and is logged", async () => {
  const { chainId } = await chainOf(1);
  store.objects.set(`fleet/one/${chainId}/${"1".padStart(12, "0")}-${"1".padStart(16, "0")}.jsonl`, "what stood here before\n");
  const { rows } = await sql<{ chain_seq: number; note: string }>`SELECT chain_seq, note FROM audit_checkpoints`.execute(database.db);
  const kept = keeper();
  kept.keep(rows.map((row) => ({ chain_id: chainId, checkpoint_no: 1, ...row })));
  await until(() => log.events.length > 0);
  expect(kept.failing()).toBe(true);
  expect(log.events[0]).toMatchObject({ event: "audit_checkpoint_bucket_contradicts" });
  expect([...store.objects.values()]).toEqual(["what stood here before\n"]);
});

test("a chain that was reset contradicts the bucket, and is logged when it continues with other rows", async () => {
  const kept = keeper();
  const { chainId } = await chainOf(3, kept);
  await until(() => store.objects.size === 3);
  const [newest] = (
    await sql<{ chain_seq: number; note: string }>`SELECT chain_seq, note FROM audit_checkpoints WHERE checkpoint_no = 3`.execute(
      database.db,
    )
  ).rows;
  await sql`DELETE FROM audit_checkpoints WHERE checkpoint_no > 1`.execute(database.db);
  expect(await bucketState(bucket, database.db)).toEqual({ kept: 1, lacking: [], contradicting: [chainId], differing: [] });

  const signed = async (no: number, seq: number) => {
    const next = { chain_id: chainId, checkpoint_no: no, chain_seq: seq, note: newest?.note ?? "" };
    await sql`INSERT INTO audit_checkpoints (chain_id, checkpoint_no, chain_seq, note, signed_at) VALUES (${chainId}, ${no}, ${seq}, ${next.note}, now())`.execute(
      database.db,
    );
    kept.keep([next]);
  };
  expect(log.events).toEqual([]);
  await signed(2, 7);
  await until(() => kept.failing());
  const other = `${chainId}/${"2".padStart(12, "0")}-${"2".padStart(16, "0")}.jsonl`;
  expect(log.events).toMatchObject([{ event: "audit_checkpoint_bucket_contradicts", fields: { key: other } }]);
  expect(store.objects.size).toBe(4);
  expect((await bucketState(bucket, database.db)).contradicting).toEqual([chainId]);

  // Longer than it was by then.
  await signed(3, 8);
  await signed(4, 9);
  await until(() => store.objects.size === 6);
  expect(await bucketState(bucket, database.db)).toEqual({ kept: 1, lacking: [], contradicting: [chainId], differing: [] });
});

describe("gatehouse audit verify --checkpoints s3://", () => {
  const AWS = { AWS_ACCESS_KEY_ID: BUCKET_KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: BUCKET_KEYS.secretAccessKey };

  async function verify(place: string, env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
    const before = { ...process.env };
    Object.assign(process.env, AWS, { AWS_ENDPOINT_URL_S3: store.endpoint }, env);
    let output = "";
    try {
      const code = await auditCommand(["verify", "--database-url", database.url, "--checkpoints", place], {
        stdout: (text) => void (output += text),
        stderr: (text) => void (output += text),
      });
      return { code, output };
    } finally {
      for (const name of [...Object.keys(AWS), "AWS_ENDPOINT_URL_S3"]) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  }

  test("a restored backup fails verification against the bucket", async () => {
    const kept = keeper();
    const { chainId } = await chainOf(4, kept);
    await until(() => store.objects.size === 4);
    const place = `s3://${NAME}/fleet/one`;
    expect((await verify(place)).code).toBe(0);

    await sql`DELETE FROM audit_rows WHERE chain_seq > 3`.execute(database.db);
    await sql`DELETE FROM audit_checkpoints WHERE chain_seq > 3`.execute(database.db);
    await sql`UPDATE audit_chains SET head_seq = 3, head_hash = (SELECT row_hash FROM audit_rows WHERE chain_seq = 3), last_checkpoint_seq = 3 WHERE chain_id = ${chainId}`.execute(
      database.db,
    );
    expect(await verify(place)).toMatchObject({ code: 2, output: expect.stringContaining("row 4 is missing") });

    store.objects.delete([...store.objects.keys()].toSorted()[3] as string);
    expect((await verify(place)).code).toBe(0);
  });

  test("reports why the bucket cannot be read", async () => {
    expect(await verify("s3://nobody-has-this/x")).toMatchObject({ code: 3, output: expect.stringContaining("404 NoSuchBucket") });
    expect(await verify("s3://Not A Bucket")).toMatchObject({
      code: 3,
      output: expect.stringContaining("GW_AUDIT_CHECKPOINT_URL must be an address"),
    });
    expect(await verify(`s3://${NAME}`, { AWS_SECRET_ACCESS_KEY: "" })).toMatchObject({
      code: 3,
      output: expect.stringContaining("needs AWS_SECRET_ACCESS_KEY"),
    });
  });
});
