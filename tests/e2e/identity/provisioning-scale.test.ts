import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import { jsonLog } from "../../../server/kernel/log.ts";
import { openDatabase } from "../../../server/store/database.ts";
import { type Served, serveModels } from "../../support/worlds/admin.ts";
import { cpuMsOfTree } from "../../support/processes/cpu-time.ts";
import { ENTERPRISE, GROUP, patchOf, scimClient, type ScimClient, USER } from "../../support/identity/scim.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * The first sync of a large directory: the cost of one more person or group when most of fifty thousand people and two thousand groups
 * exist already, and the effect on calls meanwhile. `SCIM_PEOPLE=50000 SCIM_GROUPS=2000` sends everything through the protocol and measures
 * wall time.
 */
const PEOPLE = 50_000;
const GROUPS = 2_000;
const SENT_PEOPLE = Number(process.env["SCIM_PEOPLE"] ?? 120);
const SENT_GROUPS = Number(process.env["SCIM_GROUPS"] ?? 5);
const WARM_UP = 120;
const MEMBERS = 25;
/** A full sync may take longer than other tests. */
const WHOLE_SYNC_MS = SENT_PEOPLE === PEOPLE ? 900_000 : undefined;
/** The limit for the full sync. */
const WITHIN_MS = 300_000;

let world: World;
let served: Served;
let scim: ScimClient;
let connection: ReturnType<typeof openDatabase>;

beforeAll(async () => {
  world = await startWorld();
  served = await serveModels(world.admin, world.upstream.baseUrl, ["fake-1"]);
  const { token } = await world.admin.post("/v1/admin/scim-tokens", { name: "Entra", directory: "entra", tenant_id: "default" });
  scim = scimClient(world.gateway.adminUrl, token);
  connection = openDatabase(world.databaseUrl, { log: jsonLog("error"), max: 1 });
});
afterAll(async () => {
  await connection.close();
  await world.end();
});

async function fill(): Promise<void> {
  const there = PEOPLE - SENT_PEOPLE;
  await sql`INSERT INTO end_users (id, tenant_id, username, email, display_name, password_hash, is_active, is_verified, tokens_valid_from, created_at, updated_at)
    SELECT gen_random_uuid(), 'default', 'there-' || n || '@example.com', 'there-' || n || '@example.com', 'There ' || n, '!', true, true, now(), now(), now()
      FROM generate_series(1, ${there}) n`.execute(connection.db);
  await sql`INSERT INTO scim_users (end_user_id, tenant_id, source, external_id, attributes, active, shut_out, created_at, updated_at)
    SELECT id, 'default', 'entra', 'ext-' || username, '{}', true, false, now(), now() FROM end_users WHERE username LIKE 'there-%'`.execute(
    connection.db,
  );
  await sql`ANALYZE`.execute(connection.db);
}

async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

/** CPU time of the gateway and its database connections, because the machine is shared. */
async function used(): Promise<number> {
  const { rows } = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity WHERE datname = current_database()`.execute(connection.db);
  return world.gateway.cpuMs() + rows.reduce((sum, { pid }) => sum + cpuMsOfTree(pid), 0);
}

async function call(): Promise<number> {
  const answer = await fetch(`${world.gateway.runtimeUrl}/v1/proxy/llm/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": served.apiKey },
    body: JSON.stringify({ model: "fake-1", messages: [{ role: "user", content: "hi" }] }),
  });
  await answer.text();
  return answer.status;
}

test(
  "creating one more of 50,000 people costs no more than the first, and calls during the sync succeed",
  async () => {
    let synced = false;
    const beside: number[] = [];
    const statuses = new Map<number, number>();
    const calls = (async () => {
      while (!synced) {
        const begun = performance.now();
        const status = await call();
        beside.push(performance.now() - begun);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await Bun.sleep(100);
      }
    })();

    const ids: string[] = [];
    const laps: Record<string, { gateway_ms_each: number; cpu_ms_each: number; clock_ms_each: number }> = {};
    const lap = async (what: string, count: number, work: () => Promise<void>) => {
      const [begun, before, gatewayBefore] = [performance.now(), await used(), world.gateway.cpuMs()];
      await work();
      const [gateway, all] = [world.gateway.cpuMs() - gatewayBefore, (await used()) - before];
      laps[what] = { gateway_ms_each: gateway / count, cpu_ms_each: all / count, clock_ms_each: (performance.now() - begun) / count };
    };
    // As Entra does it: look the person up, then create them.
    const people = (prefix: string, count: number) =>
      each(upTo(count), async (index) => {
        const userName = `${prefix}-${index}@example.com`;
        const found = await scim.send("GET", `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`);
        expect([found.status, found.body.totalResults]).toEqual([200, 0]);
        const { status, body } = await scim.send("POST", "/Users", {
          schemas: [USER, ENTERPRISE],
          userName,
          externalId: `ext-${prefix}-${index}`,
          active: true,
          displayName: `Person ${index}`,
          name: { givenName: "Person", familyName: String(index) },
          emails: [{ value: userName, type: "work", primary: true }],
          [ENTERPRISE]: { department: "Research" },
        });
        expect(status).toBe(201);
        ids[index] = body.id;
      });
    // Warm-up: a fresh process runs slowly.
    await people("warm", WARM_UP);
    await lap("people, none there", WARM_UP, () => people("first", WARM_UP));
    await fill();
    await lap("people", SENT_PEOPLE, () => people("person", SENT_PEOPLE));
    await lap("groups", SENT_GROUPS, () =>
      each(upTo(SENT_GROUPS), async (index) => {
        const displayName = `group ${index}`;
        const query = `?filter=${encodeURIComponent(`displayName eq "${displayName}"`)}&excludedAttributes=members`;
        expect((await scim.send("GET", `/Groups${query}`)).body.totalResults).toBe(0);
        const { status, body } = await scim.send("POST", "/Groups", { schemas: [GROUP], displayName, externalId: `group-${index}` });
        expect(status).toBe(201);
        const members = upTo(MEMBERS).map((more) => ({ value: ids[(index * MEMBERS + more) % SENT_PEOPLE] }));
        const added = await scim.send("PATCH", `/Groups/${body.id}`, patchOf({ op: "Add", path: "members", value: members }));
        expect(added.status).toBe(204);
      }),
    );
    synced = true;
    await calls;

    const cost = (of: string) => laps[of]?.cpu_ms_each ?? Number.NaN;
    const whole = (of: "cpu_ms_each" | "clock_ms_each") => (laps["people"]?.[of] ?? 0) * PEOPLE + (laps["groups"]?.[of] ?? 0) * GROUPS;
    beside.sort((a, b) => a - b);
    const p = (share: number) => Math.round(beside[Math.floor(beside.length * share)] ?? 0);
    const told = { whole_cpu_s: whole("cpu_ms_each") / 1000, whole_clock_s: whole("clock_ms_each") / 1000 };
    console.log(JSON.stringify({ laps, ...told, calls_beside: beside.length, p50: p(0.5), p99: p(0.99) }));
    expect([...statuses.keys()]).toEqual([200]);
    // One more person costs no more than the first ones did, however many there are.
    expect(cost("people")).toBeLessThan(2.5 * cost("people, none there"));
    if (SENT_PEOPLE === PEOPLE) expect(whole("clock_ms_each")).toBeLessThan(WITHIN_MS);
    const total = await scim.send("GET", "/Users?count=0");
    expect(total.body.totalResults).toBe(PEOPLE + 2 * WARM_UP);
  },
  WHOLE_SYNC_MS,
);
