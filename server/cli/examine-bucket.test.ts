import { afterEach, beforeEach, expect, test } from "bun:test";
import { CHECKPOINT_KEY_NAME, openCheckpoint, signCheckpoint, type Checkpoint } from "@gatehouse/ledger-format/checkpoint";
import { noteSigner } from "@gatehouse/ledger-format/signed-note";
import { testDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { until } from "../../tests/support/until.ts";
import { BUCKET_KEYS, type FakeBucket, startFakeBucket } from "../../tests/support/vendors/fake-bucket.ts";
import { checkpointBody } from "../ledger/checkpoints/checkpoint-contents.ts";
import { checkpointBucket } from "../ledger/checkpoints/checkpoint-bucket.ts";
import { checkpointKey } from "../ledger/checkpoints/checkpoint-key.ts";
import { storedCheckpoints } from "../ledger/checkpoints/stored-checkpoints.ts";
import { callRow, recordedLog, SIGNING_KEY, temporaryDirectory, testLedger } from "../ledger/test-support.ts";
import { outbound } from "../runtime/outbound.ts";
import { openBucket } from "../store/files/bucket.ts";
import { examineBucket } from "./examine-bucket.ts";

let database: TestDatabase;
let store: FakeBucket;
beforeEach(async () => {
  database = await testDatabase();
  store = startFakeBucket("kept");
});
afterEach(async () => {
  await store.stop();
  await database.close();
});

const settings = () => ({
  bucket: "kept",
  prefix: "",
  region: "eu-central-1",
  endpoint: store.endpoint,
  keys: { ...BUCKET_KEYS, sessionToken: null },
});
const found = async () =>
  (await Array.fromAsync(examineBucket(database.db, { auditCheckpointBucket: settings() }))).map(
    ({ state, detail }) => `${state}: ${detail}`,
  );

async function signedTimes(times: number): Promise<string> {
  const directory = temporaryDirectory();
  let chainId = "";
  for (let i = 0; i < times; i++) {
    const ledger = await testLedger(database.db, directory);
    await ledger.seal(callRow());
    ({ chainId } = ledger);
    await ledger.close();
  }
  const copied = checkpointBucket(openBucket(settings(), outbound({ allowPrivate: true })), database.db, recordedLog());
  await until(() => store.objects.size === times);
  await copied.close(1_000);
  return chainId;
}

test("a checkpoint in the bucket that differs from the database's is named, whichever of the two was changed", async () => {
  const chainId = await signedTimes(4);
  expect(await found()).toEqual([expect.stringMatching(/^ok: .* it has the newest checkpoint of 1 chain/)]);
  const [first, second, third, fourth] = await storedCheckpoints(database.db, chainId, 99, 4);
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) throw new Error("four were signed");
  const signer = noteSigner(CHECKPOINT_KEY_NAME, SIGNING_KEY);
  const signedAnew = (note: string, change: Partial<Checkpoint>) =>
    signCheckpoint({ ...(openCheckpoint(note, []).checkpoint as Checkpoint), ...change }, signer);

  // As a backup signs the head that its process was about to sign.
  store.objects.set(
    checkpointKey(first),
    checkpointBody({ ...first, note: signedAnew(first.note, { time: "2090-01-01T00:00:00.000000Z" }) }),
  );
  expect((await found()).map((one) => one.slice(0, 3))).toEqual(["ok:"]);

  store.objects.set(checkpointKey(second), checkpointBody({ ...second, note: signedAnew(second.note, { rowHash: "ab".repeat(32) }) }));
  store.objects.set(checkpointKey(third), checkpointBody({ ...third, note: third.note.replace(/[A-Za-z0-9+/]{9}=*\n$/, "AAAAAAAAA=\n") }));
  store.objects.set(checkpointKey(fourth), "nothing of the kind\n");
  expect(await found()).toEqual([
    expect.stringMatching(/^ok: /),
    expect.stringContaining(
      `have different checkpoints in 3 place(s): ${[second, third, fourth].map(checkpointKey).join(", ")}; the chain was set back, or`,
    ),
  ]);
});
