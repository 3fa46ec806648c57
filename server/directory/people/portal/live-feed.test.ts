import { expect, test } from "bun:test";
import { testDatabase } from "../../../../tests/support/database.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { jsonLog } from "../../../kernel/log.ts";
import { openDatabase } from "../../../store/database.ts";
import { LiveFeed, type FeedEvent } from "./live-feed.ts";

test("whoever leaves when they are told keeps nobody from being told", async () => {
  const database = await testDatabase();
  const log = jsonLog("error");
  const connection = openDatabase(database.url, { log, max: 2 });
  const tenant_id = "default";
  const userId = crypto.randomUUID();
  await database.db.insertInto("tenants").values({ id: tenant_id, name: tenant_id, display_name: null, data_retention: JSON.stringify({}), default_judge_model_id: null }).execute();
  await database.db.insertInto("end_users").values({ id: userId, tenant_id, username: "person", password_hash: "-" }).execute();
  const feed = new LiveFeed({ connection, users: undefined as never, snapshots: undefined as never, clock: systemClock(), log });
  await feed.start();

  const told: string[] = [];
  const last = Promise.withResolvers<FeedEvent>();
  const follow = (name: string, then: () => void) => feed.follow({ tenantId: tenant_id, userId, tell: (event) => void (told.push(name), last.resolve(event), then()), end: () => undefined });
  const leave = follow("leaves", () => leave());
  follow("stays", () => undefined);
  await database.db.insertInto("notifications").values({ id: "n", tenant_id, end_user_id: userId, notification_type: "t", title: "t", body: "b" }).execute();
  expect((await last.promise).name).toBe("notification");
  expect(told).toEqual(["leaves", "stays"]);

  await feed.stop();
  await connection.close();
  await database.close();
});
