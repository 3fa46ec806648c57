import { expect, test } from "bun:test";
import { testDatabase } from "../../../tests/support/database.ts";
import { secretBox } from "../../kernel/secrets.ts";
import { recordedLog } from "../../ledger/test-support.ts";
import { takeLetters, writeLetter } from "../../store/tool-letters.ts";
import { LetterBox } from "./letter-box.ts";

test("a letter that cannot be read keeps no other from its recipient", async () => {
  const database = await testDatabase();
  const log = recordedLog();
  const box = new LetterBox(database.db, secretBox(Buffer.alloc(32, 1)), log);
  await writeLetter(database.db, "one", "sealed by another gateway");
  await box.send("two", { say: "hello" });
  const came = Promise.withResolvers<unknown>();
  const stop = [box.wait("one", came.reject), box.wait("two", came.resolve)];
  expect(await came.promise).toEqual({ say: "hello" });
  expect(log.events.map(({ event }) => event)).toEqual(["tool_letter_unread"]);
  for (const leave of stop) leave();
  await database.close();
});

test("whoever has nobody to take letters for takes none", async () => {
  const database = await testDatabase();
  await writeLetter(database.db, "one", "waits");
  expect(await takeLetters(database.db, [])).toEqual([]);
  expect(await takeLetters(database.db, ["one"])).toMatchObject([{ body: "waits" }]);
  await database.close();
});
