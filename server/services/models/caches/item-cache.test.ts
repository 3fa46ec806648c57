import { expect, test } from "bun:test";
import { secretBox } from "../../../kernel/secrets.ts";
import type { Call } from "../../../road/call.ts";
import { ItemCache } from "./item-cache.ts";
import type { CacheStore, StoredValue } from "./cache-store.ts";

const secrets = secretBox(new Uint8Array(32));
const log = { debug() {}, info() {}, warn() {}, error() {} };
const call = {
  identity: { tenantId: "t", credentialId: "k", userId: null },
  scope: { tenant: { storeBodies: "full" } },
} as unknown as Call;
const item = (at: number) => `msg_01M830KD0RSWFXX4JPW6VYXEYY${String(at).padStart(2, "0")}`;

test("a request's items are read from the database only up to a limit", async () => {
  const rows = new Map<string, StoredValue>();
  let read = 0;
  const store: CacheStore = {
    write: async (written) => written.forEach((row) => rows.set(row.name, row)),
    read: async (_tenantId, names) => {
      read += names.length;
      return names.flatMap((name) => rows.get(name) ?? []);
    },
  };
  const parts = { now: () => 0, store, secrets, log };
  const ids = Array.from({ length: 160 }, (_, at) => item(at));
  const one = new ItemCache(parts);
  for (let at = 0; at < ids.length; at += 40) {
    one.keep(call, new Map(ids.slice(at, at + 40).map((id) => [id, JSON.stringify("x".repeat(200_000))])));
    await one.flush();
  }
  const another = new ItemCache(parts);
  const found = await another.find(call, ids);
  expect([read, found.size]).toEqual([128, 128]);
  read = 0;
  await another.find(
    call,
    Array.from({ length: 1_000 }, (_, at) => item(1_000 + at)),
  );
  expect(read).toBe(64);
});
