import { expect, test } from "bun:test";
import { testDatabase } from "../../../../tests/support/database.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { jsonLog } from "../../../kernel/log.ts";
import { openDatabase } from "../../../store/database.ts";
import type { FeedEvent } from "./feed-follower.ts";
import { LiveFeed } from "./live-feed.ts";

test("a listener that unsubscribes while it is notified does not keep others from being notified", async () => {
  const database = await testDatabase();
  const log = jsonLog("error");
  const connection = openDatabase(database.url, { log, max: 2 });
  const tenant_id = "default";
  const userId = crypto.randomUUID();
  await database.db
    .insertInto("tenants")
    .values({ id: tenant_id, name: tenant_id, display_name: null, data_retention: JSON.stringify({}), default_judge_model_id: null })
    .execute();
  await database.db.insertInto("end_users").values({ id: userId, tenant_id, username: "person", password_hash: "-" }).execute();
  const feed = new LiveFeed({ connection, users: undefined as never, snapshots: undefined as never, clock: systemClock(), log });
  await feed.start();

  const told: string[] = [];
  const last = Promise.withResolvers<FeedEvent>();
  const follow = (name: string, then: () => void) =>
    feed.follow({
      tenantId: tenant_id,
      userId,
      tell: (event) => void (told.push(name), last.resolve(event), then()),
      end: () => undefined,
    });
  const leave = follow("leaves", () => leave());
  follow("stays", () => undefined);
  await database.db
    .insertInto("notifications")
    .values({ id: "n", tenant_id, end_user_id: userId, notification_type: "t", title: "t", body: "b" })
    .execute();
  expect((await last.promise).name).toBe("notification");
  expect(told).toEqual(["leaves", "stays"]);

  await feed.stop();
  await connection.close();
  await database.close();
});

test("a notification for many users costs one query, and nothing more for users without an open portal", async () => {
  const database = await testDatabase();
  const log = jsonLog("error");
  const statements: string[] = [];
  const connection = openDatabase(database.url, { log, max: 2, onQuery: (text) => statements.push(text) });
  const people = Array.from({ length: 500 }, () => crypto.randomUUID());
  await database.db
    .insertInto("tenants")
    .values({ id: "t", name: "t", display_name: null, data_retention: JSON.stringify({}), default_judge_model_id: null })
    .execute();
  await database.db
    .insertInto("end_users")
    .values(people.map((id) => ({ id, tenant_id: "t", username: id, password_hash: "-" })))
    .execute();
  const feed = new LiveFeed({ connection, users: undefined as never, snapshots: undefined as never, clock: systemClock(), log });
  await feed.start();

  const told: unknown[] = [];
  const last = Promise.withResolvers<void>();
  feed.follow({
    tenantId: "t",
    userId: people.at(-1) as string,
    tell: ({ data }) => (told.push((data as { id: string }).id), told.length === 2 ? last.resolve() : undefined),
    end: () => undefined,
  });
  const notify = (ids: readonly string[], name: string) =>
    database.db
      .insertInto("notifications")
      .values(
        ids.map((end_user_id, i) => ({ id: `${name} ${i}`, tenant_id: "t", end_user_id, notification_type: "t", title: "t", body: "b" })),
      )
      .execute();
  await notify(people, "crossing");
  await notify(people.slice(-1), "last");
  await last.promise;
  expect(told.toSorted()).toEqual(["crossing 499", "last 0"]);
  expect(statements.length).toBe(2);

  await feed.stop();
  await connection.close();
  await database.close();
});

test("if an event cannot be read, open portals are told to resync", async () => {
  const database = await testDatabase();
  const log = jsonLog("error", () => undefined);
  const connection = openDatabase(database.url, { log, max: 2 });
  const userId = crypto.randomUUID();
  await database.db
    .insertInto("tenants")
    .values({ id: "t", name: "t", display_name: null, data_retention: JSON.stringify({}), default_judge_model_id: null })
    .execute();
  await database.db.insertInto("end_users").values({ id: userId, tenant_id: "t", username: "person", password_hash: "-" }).execute();
  const away = Object.create(connection, {
    db: {
      get: () => {
        throw new Error("too many clients");
      },
    },
  }) as typeof connection;
  const feed = new LiveFeed({ connection: away, users: undefined as never, snapshots: undefined as never, clock: systemClock(), log });
  await feed.start();
  const told = Promise.withResolvers<FeedEvent>();
  feed.follow({ tenantId: "t", userId, tell: (event) => told.resolve(event), end: () => undefined });
  await database.db
    .insertInto("notifications")
    .values({ id: "n", tenant_id: "t", end_user_id: userId, notification_type: "t", title: "t", body: "b" })
    .execute();
  expect(await told.promise).toEqual({ name: "resync", data: {} });
  await feed.stop();
  await connection.close();
  await database.close();
});
