import { expect, test } from "bun:test";
import type { Database } from "../store/database.ts";
import { readingLedger } from "./ledger-readings.ts";

test("concurrent reports of one tenant are read one at a time, those of other tenants in parallel", async () => {
  const db = {} as Database;
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (tenantId: string, name: string) =>
    readingLedger(db, tenantId, () => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.push(() => resolve(name)));
    });
  const asked = [ask("busy", "first"), ask("busy", "second"), ask("busy", "third"), ask("other", "beside")];
  await Promise.resolve();
  expect(begun).toEqual(["first", "beside"]);
  for (let i = 0; i < asked.length; i++) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  expect(await Promise.all(asked)).toEqual(["first", "second", "third", "beside"]);
  await expect(readingLedger(db, "busy", () => Promise.reject(new Error("the database is away")))).rejects.toThrow("away");
  const after = ask("busy", "after");
  await new Promise(setImmediate);
  ends.shift()?.();
  expect(await after).toBe("after");
});
