import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DiscoveryEvent } from "@gatehouse/contracts/discovery";
import { sql } from "kysely";
import { testDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import type { CollectorKeyRow } from "../../store/discovery/collector-keys.ts";
import { eventsByTrust } from "./events-by-trust.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
  const { db } = database;
  await sql`INSERT INTO tenants (id, name, data_retention) VALUES ('default', 'default', '{}') ON CONFLICT DO NOTHING`.execute(db);
  await sql`INSERT INTO discovery_devices (tenant_id, device_id, collector_id, first_seen, last_seen)
    SELECT 'default', 'known ' || n, 'scouts', now(), now() FROM generate_series(1, 99999) n`.execute(db);
});
afterAll(() => database.close());

test("a device over the limit of devices does not keep events of other devices from being accepted", async () => {
  const key = { tenant_id: "default", collector_id: "scouts", trust_tier: "standard", device_id: null } as CollectorKeyRow;
  const events = ["the last", "one too many", "the last", "known 1"].map(
    (device, at) => ({ event_id: `event-${at}`, kind: "heartbeat", device_id: device }) as DiscoveryEvent,
  );
  const sorted = await database.db.transaction().execute((trx) => eventsByTrust(trx, key, events));
  expect(sorted.allowed.map(({ device_id: id }) => id)).toEqual(["the last", "the last", "known 1"]);
  expect(sorted.rejected).toEqual([{ event_id: "event-1", reason: "there are too many devices" }]);
});
