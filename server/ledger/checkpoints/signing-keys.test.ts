import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { CHECKPOINT_KEY_NAME } from "@gatehouse/ledger-format/checkpoint";
import { noteSigner } from "@gatehouse/ledger-format/signed-note";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { listSigningKeys, registerSigningKey, retireSigningKeys } from "./signing-keys.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const DAY_MS = 24 * 3_600_000;
const newKey = () =>
  noteSigner(CHECKPOINT_KEY_NAME, generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString());

test("a replaced signing key expires when no process has used it for a week, and is valid again when one does", async () => {
  const { db } = database;
  let now = Date.parse("2026-11-01T00:00:00Z");
  const clock = { now: () => now, micros: () => now * 1000 };
  const [old, other] = [newKey(), newKey()];
  const validTo = async () => {
    await retireSigningKeys(db, clock);
    const keys = await listSigningKeys(db);
    return [old, other].map(({ keyId }) => keys.find((key) => key.key_id === keyId)?.valid_to?.slice(0, 10) ?? null);
  };
  const since = await registerSigningKey(db, old, clock);
  now += 30 * DAY_MS;
  // No other key is in use: the gateway was switched off.
  expect(await validTo()).toEqual([null, null]);
  await registerSigningKey(db, old, clock);
  await registerSigningKey(db, other, clock);
  now += 6 * DAY_MS;
  expect(await validTo()).toEqual([null, null]);
  now += 2 * DAY_MS;
  await registerSigningKey(db, other, clock);
  expect(await validTo()).toEqual(["2026-12-09", null]);
  now += 10 * DAY_MS;
  await registerSigningKey(db, other, clock);
  expect(await validTo()).toEqual(["2026-12-09", null]);
  expect(await registerSigningKey(db, old, clock)).toBe(since);
  expect(await validTo()).toEqual([null, null]);
});
