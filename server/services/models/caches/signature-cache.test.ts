import { describe, expect, test } from "bun:test";
import { secretBox } from "../../../kernel/secrets.ts";
import type { Signed } from "../../../wire/conversation/signatures.ts";
import type { Call } from "../../../road/call.ts";
import type { CacheStore } from "./cache-store.ts";
import { SignatureCache } from "./signature-cache.ts";

const HOUR = 3_600_000;
const SIGNED: Signed = {
  call: { family: "gemini", value: "s" },
  reasoning: [{ kind: "reasoning", text: "a thought of one caller", redacted: false }],
};
const secrets = secretBox(new Uint8Array(32));
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const callOf = (credentialId: string, tenantId = "t") => ({ identity: { tenantId, credentialId, userId: null } }) as Call;

function storage(now: () => number = () => 0) {
  const rows = new Map<string, Parameters<CacheStore["write"]>[0][number]>();
  const reads: (readonly string[])[] = [];
  let away = false;
  const store: CacheStore = {
    async write(written) {
      if (away) throw new Error("away");
      for (const row of written) rows.set(`${row.tenant_id} ${row.name}`, row);
    },
    async read(tenantId, names) {
      if (away) throw new Error("away");
      reads.push(names);
      const found = names.flatMap((name) => rows.get(`${tenantId} ${name}`) ?? []) as { name: string; sealed: string; expires_at: Date }[];
      return found.filter(({ expires_at }) => expires_at.getTime() > now());
    },
  };
  return { rows, reads, store, goAway: (is: boolean) => (away = is) };
}

const process = (store: CacheStore, now = () => 0) => new SignatureCache({ now, store, secrets, log: quiet });

describe("stored signatures", () => {
  test("are found by another process, which queries the store once", async () => {
    const { store, reads } = storage();
    const one = process(store);
    one.keep(callOf("k"), new Map([["a", SIGNED]]));
    await one.flush();
    const other = process(store);
    expect(await other.find(callOf("k"), ["a", "b"])).toEqual(new Map([["a", SIGNED]]));
    expect(other.find(callOf("k"), ["a", "b"])).toEqual(new Map([["a", SIGNED]]));
    expect(reads).toHaveLength(1);
  });

  test("of calls that this process answered need no query, signed or not", () => {
    const { store, reads } = storage();
    const one = process(store);
    one.keep(
      callOf("k"),
      new Map<string, Signed | null>([
        ["a", SIGNED],
        ["b", null],
      ]),
    );
    expect(one.find(callOf("k"), ["a", "b"])).toEqual(new Map([["a", SIGNED]]));
    expect(reads).toEqual([]);
  });

  test("cannot be found by another credential or tenant, and are encrypted in the store", async () => {
    const { store, rows } = storage();
    const one = process(store);
    one.keep(callOf("k"), new Map([["a", SIGNED]]));
    await one.flush();
    expect(await process(store).find(callOf("other"), ["a"])).toEqual(new Map());
    expect(await process(store).find(callOf("k", "other"), ["a"])).toEqual(new Map());
    const stored = JSON.stringify([...rows.values()]);
    expect(stored).not.toContain("a thought");
    expect(stored).not.toContain('"a"');
  });

  test("expire after 24 hours, in memory and in the store", async () => {
    let now = 0;
    const { store } = storage(() => now);
    const one = process(store, () => now);
    one.keep(callOf("k"), new Map([["a", SIGNED]]));
    await one.flush();
    now = 24 * HOUR - 1;
    expect(one.find(callOf("k"), ["a"])).toEqual(new Map([["a", SIGNED]]));
    now = 24 * HOUR;
    expect(await one.find(callOf("k"), ["a"])).toEqual(new Map());
  });

  test("are queried a few at a time, so that no call blocks the store for others", async () => {
    const { store, reads } = storage();
    const one = process(store);
    one.keep(callOf("other"), new Map([["a", SIGNED]]));
    await one.flush();
    // Like a database that counts parameters in 16 bits.
    const read: CacheStore["read"] = async (tenantId, names) => {
      if (names.length > 65_000) throw new Error("too many parameters");
      return store.read(tenantId, names);
    };
    const another = process({ ...store, read });
    const many = Array.from({ length: 70_000 }, (_, at) => `call ${at}`);
    expect(await another.find(callOf("k"), many)).toEqual(new Map());
    expect(Math.max(...reads.map(({ length }) => length))).toBe(500);
    expect(await another.find(callOf("other"), ["a"])).toEqual(new Map([["a", SIGNED]]));
  });

  test("cost a call nothing while the store is unreachable, and are written once it is back", async () => {
    const { store, rows, goAway } = storage();
    let now = 0;
    const one = process(store, () => now);
    goAway(true);
    one.keep(callOf("k"), new Map([["a", SIGNED]]));
    await one.flush();
    expect(one.find(callOf("k"), ["unknown"])).toEqual(new Map());
    goAway(false);
    now = 10_000;
    one.keep(callOf("k"), new Map([["b", SIGNED]]));
    await one.flush();
    expect(rows.size).toBe(2);
  });

  test("delay the end of the answer until they are stored, but not while the store is unreachable", async () => {
    const { store, goAway } = storage();
    const writing = Promise.withResolvers<void>();
    let written = false;
    const slow: CacheStore = { ...store, write: (rows) => writing.promise.then(() => store.write(rows)).then(() => void (written = true)) };
    const [call, unsigned, later] = [callOf("k"), callOf("k"), callOf("k")];
    const one = process(slow);
    one.keep(unsigned, new Map<string, Signed | null>([["b", null]]));
    expect(unsigned.keeping).toBeUndefined();
    one.keep(call, new Map([["a", SIGNED]]));
    const ended = call.keeping?.then(() => written);
    writing.resolve();
    expect(await ended).toBe(true);
    goAway(true);
    one.keep(call, new Map([["a", SIGNED]]));
    await call.keeping;
    one.keep(later, new Map([["c", SIGNED]]));
    expect(later.keeping).toBeUndefined();
  });
});
