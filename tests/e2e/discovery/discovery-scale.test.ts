import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { type SeenAsset, putSeenAssets } from "../../../server/store/discovery/discovered-assets.ts";
import { putDevices } from "../../../server/store/discovery/seen-devices.ts";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { type Collector, registerCollector, seenServer } from "../../support/vendors/collector.ts";
import { cpuMsOfTree } from "../../support/processes/cpu-time.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

/** Many assets, and many events that must not be trusted. */
let world: World;
let owner: AdminClient;
let connection: ReturnType<typeof openDatabase>;
const PATH = "/v1/admin/discovery";
const ORIGIN = "https://inside.example";
const ASSETS = 100_000;
const A_MESSAGE = 500;
const OF_DEVICE = 1_000;

beforeAll(async () => {
  world = await startWorld({ GW_STRANGER_ROWS_PER_MINUTE: "1000000" });
  const account = { tenant_id: "default", username: "finder", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account, "tenant");
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
});
afterAll(async () => {
  await connection.close();
  await world.end();
});

const collector = (tier = "high") => registerCollector(owner, world.gateway.runtimeUrl as string, { tier });

/** A digest of everything known about assets and devices. */
async function known(): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    SELECT md5(coalesce((SELECT string_agg(a::text, ',' ORDER BY id) FROM discovered_assets a), '')
        || coalesce((SELECT string_agg(d::text, ',' ORDER BY device_id) FROM discovery_devices d), '')) AS digest`.execute(connection.db);
  return rows[0]?.digest ?? "";
}

/** Processes items in order, with limited concurrency. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

const servers = (device: string, count: number, more: Record<string, unknown> = {}) =>
  Array.from({ length: count }, (_, at) => seenServer(device, `server ${at}`, more));

test("10,000 events that are forged, replayed, stale or too large change nothing", async () => {
  const [honest, replayed, repeated, stale, large, revoked] = (await Promise.all(Array.from({ length: 6 }, () => collector()))) as [
    Collector,
    Collector,
    Collector,
    Collector,
    Collector,
    Collector,
  ];
  await honest.report(...servers("known", 100));
  const taken = replayed.message(servers("replayed", A_MESSAGE));
  const told = servers("repeated", A_MESSAGE);
  expect([(await replayed.send(taken)).status, (await repeated.report(...told)).status]).toEqual([200, 200]);
  await owner.post(`${PATH}/collector-keys/${revoked.keyId}/revoke`, {});
  const before = await known();

  const stranger = generateKeyPairSync("ed25519").privateKey;
  let events = 0;
  const refused: Record<string, number> = {};
  const send = async (scout: Collector, message: Record<string, unknown>, signature?: string) => {
    const { status, body } = await scout.send(message, signature);
    events += (message.events as object[]).length;
    const outcome = status === 200 ? `200 accepted ${body.accepted}` : `${status} ${body.code}`;
    refused[outcome] = (refused[outcome] ?? 0) + 1;
  };
  // Of each four events, one changes a known asset, one adds one, one ends one, and one is from another device.
  const planted = (index: number) => [
    seenServer("known", `server ${index % 100}`, { version: "9", endpoints: [`${ORIGIN}/v1/proxy/mcp/x`] }),
    seenServer("known", `added ${index}`),
    { ...seenServer("known", `server ${index % 100}`), kind: "asset_gone" },
    seenServer(`device ${index}`, "added"),
  ];
  const forged = Array.from({ length: 400 }, (_, index) => index);
  await each(forged, async (index) => {
    const message = honest.message(planted(index));
    const tricks = [
      () => send(honest, message, honest.signed(message, stranger)),
      () => send(honest, { ...message, nonce: crypto.randomUUID() }, honest.signed(message)),
      () => send(honest, { ...message, collector_id: large.collectorId }),
      () => send(honest, { ...message, key_id: large.keyId }),
      () => send(honest, message, ""),
      () => send(revoked, revoked.message(planted(index))),
    ];
    await tricks[index % tricks.length]?.();
  });
  const clock = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  for (let round = 0; round < 4; round++) {
    await send(replayed, taken);
    await send(repeated, repeated.message(told));
    await send(stale, stale.message(servers("stale", A_MESSAGE), { sent_at: clock(round % 2 === 0 ? -6 : 6) }));
    await send(large, large.message(servers("many", A_MESSAGE + 1)));
    await send(
      large,
      large.message(
        servers("wide", A_MESSAGE, {
          name: "x".repeat(200),
          attributes: { client: "c".repeat(200), transport: "stdio", package: "p".repeat(200) },
        }),
      ),
    );
  }
  expect(events).toBeGreaterThanOrEqual(10_000);
  expect(await known()).toBe(before);
  expect(refused).toEqual({
    "401 unauthenticated": 400,
    "409 collector_replay": 4,
    "200 accepted 0": 4,
    "400 collector_clock": 4,
    "400 invalid_body": 4,
    "413 body_too_large": 4,
  });
});

test("100,000 assets are listed and their governance status recomputed in under five seconds of CPU time", async () => {
  const { id } = await owner.post("/v1/admin/mcp-servers", { name: "tools", base_url: "http://tools.example" });
  const seen = (at: number): SeenAsset => ({
    id: crypto.randomUUID(),
    identity: `identity ${at}`,
    asset_type: "local_mcp_server",
    device_id: `laptop ${Math.floor(at / OF_DEVICE)}`,
    name: `server ${at}`,
    version: "1",
    location_hash: "a".repeat(64),
    config_digest: "b".repeat(64),
    endpoints: [`${ORIGIN}/v1/proxy/mcp/${id}`],
    attributes: { client: "cursor", transport: "http" },
    seen_at: new Date(Date.now() - at),
  });
  await connection.db.transaction().execute(async (trx) => {
    for (let at = 0; at < ASSETS; at += OF_DEVICE)
      await putSeenAssets(
        trx,
        "default",
        "scout_events",
        Array.from({ length: OF_DEVICE }, (_, more) => seen(at + more)),
      );
    const devices = Array.from({ length: ASSETS / OF_DEVICE }, (_, at) => ({
      device_id: `laptop ${at}`,
      device_name: null,
      seen_at: new Date(),
    }));
    await putDevices(trx, "default", "collector", devices);
  });
  await owner.post(`${PATH}/reconcile`, {});

  // CPU time of the gateway and its database connections, because the machine is shared.
  const used = async () => {
    const { rows } = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE datname = current_database()`.execute(connection.db);
    return world.gateway.cpuMs() + rows.reduce((sum, { pid }) => sum + cpuMsOfTree(pid), 0);
  };
  const took: Record<string, { cpu_ms: number; clock_ms: number }> = {};
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const [begun, before] = [performance.now(), await used()];
    const answer = await work();
    took[what] = { cpu_ms: (await used()) - before, clock_ms: Math.round(performance.now() - begun) };
    return answer;
  };
  const first = await timed("first page", () => owner.get(`${PATH}/assets?limit=200`));
  const { total } = first;
  expect([total >= ASSETS, first.assets.length, first.coverage.governed]).toEqual([true, 200, 0]);
  await timed("last page", () => owner.get(`${PATH}/assets?limit=200&offset=${total - 200}`));
  expect((await timed("search", () => owner.get(`${PATH}/assets?q=server 99999`))).total).toBe(1);
  expect((await timed("devices", () => owner.get(`${PATH}/devices`))).total).toBeGreaterThanOrEqual(100);
  const { changed } = await timed("reconcile nothing", () => owner.post(`${PATH}/reconcile`, {}));
  expect(changed).toBe(0);
  await sql`INSERT INTO discovery_settings (tenant_id, gateway_origins) VALUES ('default', ${[ORIGIN]}::text[])
            ON CONFLICT (tenant_id) DO UPDATE SET gateway_origins = EXCLUDED.gateway_origins`.execute(connection.db);
  const judged = await timed("reconcile all", () => owner.post(`${PATH}/reconcile`, {}));
  expect([judged.changed, judged.coverage.governed]).toEqual([ASSETS, ASSETS]);
  console.log(JSON.stringify(took));
  for (const [what, { cpu_ms: ms }] of Object.entries(took)) expect([what, ms < 5_000]).toEqual([what, true]);
});

test("events reported while all assets are being reconciled end with the correct governance status", async () => {
  const { id } = await owner.post("/v1/admin/mcp-servers", { name: "other tools", base_url: "http://other-tools.example" });
  const through = [`${world.gateway.runtimeUrl}/v1/proxy/mcp/${id}`];
  const scout = await collector();
  const devices = Array.from({ length: 24 }, (_, at) => `moving ${at}`);
  const tell = (device: string, endpoints: string[]) => scout.report(...servers(device, 20, { endpoints }));
  await each(devices, async (device) => expect((await tell(device, [`${ORIGIN}/v1/proxy/mcp/${id}`])).status).toBe(200));
  const judged = owner.request("PATCH", `${PATH}/settings`, { gateway_origins: [] });
  await each(devices, async (device) => expect((await tell(device, through)).status).toBe(200));
  expect((await judged).status).toBe(200);
  expect((await owner.post(`${PATH}/reconcile`, {})).changed).toBe(0);
  expect((await owner.get(`${PATH}/assets?governance_status=governed&q=server&device_id=${devices[0]}`)).total).toBe(20);
});
