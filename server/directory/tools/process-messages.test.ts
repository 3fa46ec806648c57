import { expect, test } from "bun:test";
import { testDatabase } from "../../../tests/support/database.ts";
import { secretBox } from "../../kernel/secrets.ts";
import { recordedLog } from "../../ledger/test-support.ts";
import { takeProcessMessages, writeProcessMessage } from "../../store/connections/process-messages.ts";
import { ProcessMessages } from "./process-messages.ts";

test("an unreadable process message does not keep other messages from their recipients", async () => {
  const database = await testDatabase();
  const log = recordedLog();
  const box = new ProcessMessages(database.db, secretBox(Buffer.alloc(32, 1)), log);
  await writeProcessMessage(database.db, "one", "sealed by another gateway");
  await box.send("two", { say: "hello" });
  const came = Promise.withResolvers<unknown>();
  const stop = [box.wait("one", came.reject), box.wait("two", came.resolve)];
  expect(await came.promise).toEqual({ say: "hello" });
  expect(log.events.map(({ event }) => event)).toEqual(["tool_letter_unread"]);
  for (const leave of stop) leave();
  await database.close();
});

test("no process message is read without a recipient waiting for it", async () => {
  const database = await testDatabase();
  await writeProcessMessage(database.db, "one", "waits");
  expect(await takeProcessMessages(database.db, [])).toEqual([]);
  expect(await takeProcessMessages(database.db, ["one"])).toMatchObject([{ body: "waits" }]);
  await database.close();
});
