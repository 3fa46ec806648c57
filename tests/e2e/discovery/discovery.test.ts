import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { type AdminClient, rowOf, signIn } from "../../support/worlds/admin.ts";
import { type Collector, registerCollector, seenClient, seenServer } from "../../support/vendors/collector.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startStatelessServer, type ToolServerFixture } from "../../support/tool-servers/tool-servers.ts";
import { startWorld, type World } from "../../support/world.ts";

let world: World;
let owner: AdminClient;
let other: AdminClient;
let tools: ToolServerFixture;
const PATH = "/v1/admin/discovery";

beforeAll(async () => {
  world = await startWorld({ GW_STRANGER_ROWS_PER_MINUTE: "1000000", GW_PUBLIC_URL: "https://gateway.example" });
  const account = { tenant_id: "default", username: "finder", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account, "tenant");
  await world.admin.post("/v1/admin/tenants", { id: "others", name: "others" });
  await world.admin.post("/v1/admin/admin-users", { ...account, tenant_id: "others", role: "owner" });
  other = await signIn(world.gateway.adminUrl, { ...account, tenant_id: "others" }, "tenant");
  tools = startStatelessServer();
});
afterAll(async () => {
  await tools.stop();
  await world.end();
});

const collector = (tier = "standard", of = owner) => registerCollector(of, world.gateway.runtimeUrl, { tier });
const found = (query: string, of = owner) => of.get(`${PATH}/assets?${query}`);
async function only(query: string): Promise<any> {
  const { assets } = await found(query);
  expect(assets).toHaveLength(1);
  return assets[0];
}

describe("governance of discovered assets", () => {
  let scout: Collector;
  let serverId: string;
  beforeAll(async () => {
    scout = await collector();
    serverId = (await owner.post("/v1/admin/mcp-servers", { name: "tools", base_url: tools.baseUrl })).id;
  });

  test("counts only assets that call through the gateway as governed, and a client according to its servers and model", async () => {
    const through = `https://gateway.example/v1/proxy/mcp/${serverId}`;
    const at = (name: string, endpoints: string[], more: object = {}) =>
      seenServer("d1", name, { endpoints, attributes: { client: "cursor", transport: "http", ...more } });
    const { status, body } = await scout.report(
      at("through", [through]),
      at("past", ["https://mcp.vendor.example"]),
      at("unknown id", ["https://gateway.example/v1/proxy/mcp/mcp-01ARZ3NDEKTSV4RRFFQ69G5FAV"]),
      at("claims our name", [`https://gateway.example.evil.example/v1/proxy/mcp/${serverId}`]),
      at("variable", [through], { unresolved: true }),
      at("process", []),
      at("switched off", ["https://mcp.vendor.example"], { inactive: true }),
      seenClient("d1", "cursor"),
      seenClient("d1", "claude_code", { attributes: { client: "claude_code", model_endpoint: "https://gateway.example" } }),
      seenClient("d1", "zed"),
    );
    expect([status, body]).toEqual([200, { accepted: 10, duplicates: 0, rejected: [], gateway_origins: ["https://gateway.example"] }]);
    const { assets, coverage } = await found("device_id=d1");
    const statuses = Object.fromEntries(assets.map((one: any) => [one.name, one.governance_status]));
    expect(statuses).toEqual({
      through: "governed",
      past: "ungoverned",
      "unknown id": "ungoverned",
      "claims our name": "ungoverned",
      variable: "ungoverned",
      process: "ungoverned",
      "switched off": "ungoverned",
      cursor: "partially_governed",
      claude_code: "governed",
      zed: "ungoverned",
    });
    expect(coverage).toMatchObject({
      total: 10,
      governed: 2,
      partially_governed: 1,
      ungoverned: 7,
      dismissed: 0,
      devices: 1,
      governed_pct: 20,
    });
    expect((await owner.get(`${PATH}/devices`)).devices[0]).toMatchObject({
      device_id: "d1",
      client_count: 3,
      mcp_server_count: 7,
      ungoverned_count: 8,
    });
  });

  test("stores addresses without credentials, queries and fragments", async () => {
    const attributes = { client: "zed", model_endpoint: "https://me:planted@models.example/v1?key=planted" };
    await scout.report(
      seenServer("d-secret", "told too much", { endpoints: ["https://me:planted@mcp.example/mcp?key=planted#planted", "#planted"] }),
      seenClient("d-secret", "zed", { attributes }),
    );
    const told = await found("device_id=d-secret");
    expect(JSON.stringify(told)).not.toContain("planted");
    expect(told.assets.map(({ endpoints }: any) => endpoints)).toContainEqual(["https://mcp.example/mcp"]);
  });

  test("changes when records or the gateway's origins change and assets are reconciled", async () => {
    await scout.report(seenServer("d2", "elsewhere", { endpoints: [`http://inside.example:8080/v1/proxy/mcp/${serverId}`] }));
    expect((await only("device_id=d2")).governance_status).toBe("ungoverned");
    expect((await owner.request("PATCH", `${PATH}/settings`, { gateway_origins: ["http://inside.example:8080"] })).status).toBe(200);
    expect((await only("device_id=d2")).governance_status).toBe("governed");
    expect((await owner.request("PATCH", `${PATH}/settings`, { gateway_origins: ["http://inside.example:8080/path"] })).status).toBe(400);
    expect((await owner.request("DELETE", `/v1/admin/mcp-servers/${serverId}`)).status).toBe(204);
    expect(await owner.post(`${PATH}/reconcile`, {})).toMatchObject({ changed: 3, coverage: { governed: 1 } });
    expect((await only("device_id=d2")).governance_status).toBe("ungoverned");
    expect(await owner.post(`${PATH}/reconcile`, {})).toMatchObject({ changed: 0 });
    // This asset points to the gateway itself, which cannot be registered as an upstream.
    const { id } = await only("device_id=d2");
    expect((await owner.post(`${PATH}/assets/${id}/onboard`, {})).prefill).toMatchObject({ kind: "client_configuration", path: null });
  });

  test("lets an asset be registered from a prefilled record, and dismissed until its configuration changes", async () => {
    const event = (digest: string) =>
      seenServer("d3", "weather", { endpoints: [new URL(tools.baseUrl).origin], config_digest: digest.repeat(64) });
    await scout.report(event("1"));
    const { id } = await only("device_id=d3");
    const { asset, prefill } = await owner.post(`${PATH}/assets/${id}/onboard`, {});
    expect([asset.governance_status, asset.onboarded_at]).toEqual(["ungoverned", expect.any(String)]);
    expect((await owner.request("POST", prefill.path, prefill.body)).status).toBe(201);

    expect((await owner.post(`${PATH}/assets/${id}/dismiss`, { reason: "a toy" })).governance_status).toBe("dismissed");
    await scout.report(event("1"));
    expect((await only("device_id=d3")).dismissed_reason).toBe("a toy");
    await scout.report(event("2"));
    expect((await only("device_id=d3")).governance_status).toBe("ungoverned");
    await owner.post(`${PATH}/assets/${id}/dismiss`, { reason: "still a toy" });
    expect((await owner.post(`${PATH}/assets/${id}/restore`, {})).dismissed_reason).toBeNull();
    expect((await owner.request("POST", `${PATH}/assets/${id}/restore`, {})).status).toBe(409);
    expect((await owner.request("POST", `${PATH}/assets/${id}/dismiss`, { reason: " " })).status).toBe(400);
  });
});

describe("collector events", () => {
  test("are applied once, in the order of observation, and mark removed assets as gone", async () => {
    const scout = await collector();
    const event = seenServer("e1", "one", { version: "1" });
    const message = scout.message([event]);
    expect((await scout.send(message)).body.accepted).toBe(1);
    expect((await scout.send(message)).status).toBe(409);
    expect((await scout.report(event)).body).toMatchObject({ accepted: 0, duplicates: 1 });
    const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
    await scout.report({ ...event, event_id: "late", version: "0", observed_at: hourAgo });
    expect((await only("device_id=e1")).version).toBe("1");
    await scout.report({ ...event, event_id: "gone", kind: "asset_gone", observed_at: new Date().toISOString() });
    expect((await only("device_id=e1")).status).toBe("gone");
    expect((await scout.report({ event_id: "h", kind: "heartbeat", device_id: "e1", observed_at: hourAgo })).body.accepted).toBe(1);
    expect((await owner.get(`${PATH}/collector-keys?search=${scout.collectorId}`)).collector_keys[0].last_seen).not.toBeNull();
  });

  test("leave an audit row with the collector key and counts, and nothing of their content", async () => {
    const scout = await collector();
    const { headers } = await scout.report(seenServer("e2", "name-on-a-device"));
    const row = await rowOf(owner, { id: headers.get("x-request-id") });
    expect(row).toMatchObject({ proxy_subtype: "discovery_events", subject_id: scout.keyId, success: true, http_status_code: 200 });
    expect(row.custom_metadata).toEqual({ events_accepted: 1, events_duplicate: 0, events_rejected: 0 });
    expect(JSON.stringify(row)).not.toContain("name-on-a-device");
  });

  test("from a low-trust key cover one device only, from a standard key no device of another collector", async () => {
    const [low, standard, high] = [await collector("low"), await collector("standard"), await collector("high")];
    expect((await low.report(seenServer("t1", "a"))).body.accepted).toBe(1);
    expect((await low.report(seenServer("t2", "a"))).body).toMatchObject({
      accepted: 0,
      rejected: [{ reason: expect.stringContaining("another device") }],
    });
    expect((await found("device_id=t2")).total).toBe(0);
    const { alerts } = await owner.get("/v1/admin/alerts");
    expect(alerts.filter(({ alert_type: type }: any) => type === "collector_key_shared")).toHaveLength(1);
    expect((await standard.report(seenServer("t1", "b"))).body.rejected).toHaveLength(1);
    expect((await high.report(seenServer("t1", "b"))).body.accepted).toBe(1);
    expect((await found("device_id=t1")).total).toBe(2);
  });

  test("that are unsigned, wrongly signed, stale, malformed or too large change nothing", async () => {
    const scout = await collector();
    const stranger = generateKeyPairSync("ed25519").privateKey;
    const event = seenServer("x1", "planted");
    const before = (await found("")).total;
    const refused = async (message: unknown, signature?: string) => {
      const { status, body, headers } = await scout.send(message, signature);
      expect(headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
      return [status, body.code];
    };
    const good = scout.message([event]);
    expect(await refused(good, scout.signed(good, stranger))).toEqual([401, "unauthenticated"]);
    expect(await refused(good, "")).toEqual([401, "unauthenticated"]);
    expect(await refused({ ...good, collector_id: "somebody" })).toEqual([401, "unauthenticated"]);
    expect(await refused({ ...good, key_id: crypto.randomUUID() })).toEqual([401, "unauthenticated"]);
    expect(await refused({ ...good, key_id: "1' OR '1'='1" })).toEqual([401, "unauthenticated"]);
    const changed = { ...good, events: [{ ...event, name: "changed" }] };
    expect(await refused(changed, scout.signed(good))).toEqual([401, "unauthenticated"]);
    for (const seconds of [-301, 301])
      expect(await refused(scout.message([event], { sent_at: new Date(Date.now() + seconds * 1000).toISOString() }))).toEqual([
        400,
        "collector_clock",
      ]);
    expect(await refused(scout.message([event], { sent_at: 5 }))).toEqual([400, "collector_clock"]);
    expect(await refused(scout.message([]))).toEqual([400, "invalid_body"]);
    const heartbeats = Array.from({ length: 501 }, (_, index) => ({
      ...event,
      event_id: String(index),
      kind: "heartbeat",
      name: undefined,
    }));
    expect(
      (await refused(
        scout.message(heartbeats.map(({ event_id, kind, device_id, observed_at }) => ({ event_id, kind, device_id, observed_at }))),
      )) as unknown[],
    ).toEqual([400, "invalid_body"]);
    expect(await refused(scout.message([{ ...event, kind: "asset_governed" }]))).toEqual([400, "invalid_body"]);
    expect(await refused(scout.message([{ ...event, name: undefined }]))).toEqual([400, "invalid_body"]);
    expect(await refused(scout.message([{ ...event, observed_at: "2999-01-01T00:00:00Z" }]))).toEqual([400, "invalid_body"]);
    expect(await refused(scout.message([{ ...event, name: "nul\u0000" }]))).toEqual([400, "invalid_body"]);
    expect(await refused(JSON.stringify(good).replace('"nonce"', '"Nonce":"x","nonce"'), scout.signed(good))).toEqual([
      400,
      "ambiguous_name",
    ]);
    expect(await refused("[".repeat(100_000), "x")).toEqual([400, "invalid_body"]);
    expect(await refused(`{"a":${"[".repeat(1_000)}${"]".repeat(1_000)}}`, "x")).toEqual([400, "invalid_body"]);
    expect(await refused(`{"a":"${"x".repeat(256 * 1024)}"}`, "x")).toEqual([413, "body_too_large"]);
    // Collectors report only facts: a signed governance status is dropped along with all unknown members.
    expect(
      (await scout.report({ ...event, governance_status: "governed", status: "gone", attributes: { client: "cursor", secret: "s" } }))
        .status,
    ).toBe(200);
    expect(await only("device_id=x1")).toMatchObject({
      governance_status: "ungoverned",
      status: "active",
      attributes: { client: "cursor" },
    });
    await owner.post(`${PATH}/collector-keys/${scout.keyId}/revoke`, {});
    const late = await scout.report(seenServer("x1", "after the end"));
    expect([late.status, late.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await found("")).total).toBe(before + 1);
    // The owner of the revoked key learns that it is still in use.
    const row = await rowOf(owner, { id: late.headers.get("x-request-id") });
    expect(row).toMatchObject({ tenant_id: "default", success: false, subject_id: null, error_type: "collector_key_revoked" });
  });

  test("beyond a key's rate limit answer 429 with Retry-After, without affecting other keys", async () => {
    const [busy, calm] = [await collector(), await collector()];
    const beat = (device: string) => ({
      event_id: crypto.randomUUID(),
      kind: "heartbeat",
      device_id: device,
      observed_at: new Date().toISOString(),
    });
    // More than two minutes' worth of the rate limit, whichever minutes the requests fall into.
    const answers = await Promise.all(Array.from({ length: 260 }, () => busy.report(beat("busy"))));
    const late = answers.find(({ status }) => status === 429);
    expect(late?.body.code).toBe("collector_rate_limited");
    expect(Number(late?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await calm.report(beat("calm"))).status).toBe(200);
  });

  test("never concern another tenant", async () => {
    const [ours, theirs] = [await collector(), await collector("high", other)];
    await ours.report(seenServer("shared-device", "ours"));
    await theirs.report(seenServer("shared-device", "theirs"));
    expect((await found("device_id=shared-device", other)).assets.map(({ name }: any) => name)).toEqual(["theirs"]);
    expect((await found("device_id=shared-device")).assets.map(({ name }: any) => name)).toEqual(["ours"]);
    const { id } = await only("device_id=shared-device");
    for (const [method, path] of [
      ["GET", ""],
      ["POST", "/onboard"],
      ["POST", "/restore"],
    ] as const)
      expect((await other.request(method, `${PATH}/assets/${id}${path}`, method === "GET" ? undefined : {})).status).toBe(404);
    expect((await other.request("POST", `${PATH}/collector-keys/${ours.keyId}/revoke`, {})).status).toBe(404);
    expect((await other.get(`${PATH}/collector-keys`)).collector_keys.map(({ id: key }: any) => key)).toEqual([theirs.keyId]);
    expect((await other.get(`${PATH}/devices`)).devices).toHaveLength(1);
  });
});

test("a collector key is registered once, and an invalid public key is refused", async () => {
  const body = { collector_id: "c", public_key: Buffer.alloc(32, 9).toString("base64"), trust_tier: "low" };
  const made = await owner.post(`${PATH}/collector-keys`, body);
  expect(await owner.request("POST", `${PATH}/collector-keys`, body)).toMatchObject({ status: 409, body: { existing_id: made.id } });
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ type: "spki", format: "pem" }).toString();
  for (const key of [
    "",
    "short",
    Buffer.alloc(31).toString("base64"),
    rsa,
    "-----BEGIN PUBLIC KEY-----\nnonsense\n-----END PUBLIC KEY-----",
  ])
    expect(await owner.request("POST", `${PATH}/collector-keys`, { ...body, public_key: key })).toMatchObject({
      status: 400,
      body: { fields: [{ field: "public_key" }] },
    });
});
