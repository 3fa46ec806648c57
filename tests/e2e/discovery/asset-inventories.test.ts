import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AdminClient, signIn } from "../../support/worlds/admin.ts";
import { registerCollector, seenClient } from "../../support/vendors/collector.ts";
import { ADMIN_PASSWORD } from "../../support/gateway.ts";
import { startWorld, type World } from "../../support/world.ts";

/** External inventories and the asset registry: import, update and export. */
let world: World;
let owner: AdminClient;
let other: AdminClient;
const ADAPTERS = "/v1/admin/discovery/ingest-adapters";

beforeAll(async () => {
  world = await startWorld();
  const account = { tenant_id: "default", username: "librarian", password: ADMIN_PASSWORD };
  await world.admin.post("/v1/admin/admin-users", { ...account, role: "owner" });
  owner = await signIn(world.gateway.adminUrl, account, "tenant");
  await world.admin.post("/v1/admin/tenants", { id: "others", name: "others" });
  await world.admin.post("/v1/admin/admin-users", { ...account, tenant_id: "others", role: "owner" });
  other = await signIn(world.gateway.adminUrl, { ...account, tenant_id: "others" }, "tenant");
  await owner.post("/v1/admin/providers", { provider_key: "p", api_format: "echo" });
  await owner.post("/v1/admin/llms", { name: "known-model", provider: "p" });
  await owner.post("/v1/admin/mcp-servers", { name: "known server", base_url: "https://mcp.known.example", mcp_endpoint_path: "/mcp" });
});
afterAll(() => world.end());

async function upload(adapter: string, content: string | Uint8Array<ArrayBuffer>): Promise<{ status: number; body: any }> {
  const form = new FormData();
  form.set("file", new File([content], "inventory"));
  const answer = await fetch(`${world.gateway.adminUrl}${ADAPTERS}/${adapter}`, {
    method: "POST",
    headers: { authorization: `Bearer ${owner.token}` },
    body: form,
  });
  return { status: answer.status, body: await answer.json() };
}
const bom = (more: object) => JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", ...more });
const statuses = async (query: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await owner.get(`/v1/admin/discovery/assets?${query}`)).assets.map((asset: any) => [asset.name, asset.governance_status]),
  );

describe("an imported inventory", () => {
  test("in CycloneDX yields models at any depth, and services that are tool servers or agents", async () => {
    const file = bom({
      metadata: {
        component: { type: "application", name: "product", components: [{ type: "machine-learning-model", name: "known-model" }] },
      },
      components: [
        { type: "library", name: "left-pad" },
        { type: "library", name: "wrapper", components: [{ type: "machine-learning-model", name: "stray-model", version: "2" }] },
      ],
      services: [
        { name: "known mcp", endpoints: ["https://user:secret@mcp.known.example/mcp?token=planted-secret"] },
        { name: "stray", properties: [{ name: "gw:asset_type", value: "agent" }], endpoints: ["https://agent.example/a"] },
        { name: "a database", endpoints: ["https://db.example"] },
        { name: "", description: "an mcp server" },
      ],
    });
    const first = await upload("cyclonedx", file);
    expect(first).toMatchObject({ status: 200, body: { found: 4, added: 4, skipped_count: 1 } });
    expect((await upload("cyclonedx", file)).body).toMatchObject({ found: 4, added: 0 });
    const found = await owner.get("/v1/admin/discovery/assets?limit=100");
    expect(JSON.stringify(found)).not.toContain("secret");
    expect(await statuses("asset_type=model")).toEqual({ "known-model": "governed", "stray-model": "ungoverned" });
    expect(await statuses("asset_type=mcp_server")).toEqual({ "known mcp": "governed" });
    expect(await statuses("asset_type=agent")).toEqual({ stray: "ungoverned" });
  });

  test("of agents is read from agent cards, lists of agents, and MCP registry files", async () => {
    expect(
      (await upload("agent-inventory", JSON.stringify({ name: "carded", supportedInterfaces: [{ url: "https://carded.example/a2a" }] })))
        .body,
    ).toMatchObject({ found: 1, added: 1 });
    const both = {
      agents: [{ name: "told", url: "https://told.example" }, { url: "https://no-name.example" }],
      servers: [{ server: { name: "registry", remotes: [{ url: "https://mcp.known.example/mcp/" }] } }],
    };
    expect((await upload("agent-inventory", JSON.stringify(both))).body).toMatchObject({ found: 2, skipped: [{ item: "1" }] });
    expect((await statuses("q=registry")).registry).toBe("governed");
  });

  test("from a device manager keeps AI clients only, and updates the same asset as a collector on the device", async () => {
    const csv =
      "\uFEFFDevice ID,Device Name,Application,Version,Last Seen,Path\r\nm1,Mary's,Cursor.app,1.2,2026-01-01T00:00:00Z,/Users/mary/secret-path\r\nm1,Mary's,=HYPERLINK(1),1,,\r\nm2,,Claude,3,never,\r\n,,Cursor,,,\r\n";
    expect((await upload("mdm-csv", csv)).body).toMatchObject({ found: 2, added: 2, skipped_count: 2 });
    for (const delimiter of [";", "\t"]) {
      const file = `device id;application;version\nd-of-another-country;"Cursor, the editor";1,5\n`.replaceAll(";", delimiter);
      expect((await upload("mdm-csv", file)).body).toMatchObject({ found: 1, skipped_count: 0 });
    }
    const [cursor] = (await owner.get("/v1/admin/discovery/assets?q=the+editor")).assets;
    expect(cursor).toMatchObject({ name: "Cursor, the editor", version: "1,5" });
    const [asset] = (await owner.get("/v1/admin/discovery/assets?device_id=m1")).assets;
    expect(asset).toMatchObject({ name: "Cursor.app", version: "1.2", device_name: "Mary's", governance_status: "ungoverned" });
    expect(JSON.stringify(asset)).not.toContain("secret-path");
    const low = await registerCollector(owner, world.gateway.runtimeUrl, { tier: "low" });
    expect((await low.report(seenClient("m1", "cursor", { version: "1.3" }))).body.accepted).toBe(1);
    const { assets } = await owner.get("/v1/admin/discovery/assets?device_id=m1");
    expect(assets).toHaveLength(1);
    expect(assets[0]).toMatchObject({ version: "1.3", source: "scout_events" });
    await upload("mdm-csv", "device,application\nm9,Cursor \u202Egnp.exe\n");
    const high = await registerCollector(owner, world.gateway.runtimeUrl, { tier: "high" });
    await high.report({ ...seenClient("m9", "zed", { name: "\u202EdeZ" }), device_name: "nine\u2066" });
    const turned = (await owner.get("/v1/admin/discovery/assets?device_id=m9")).assets;
    expect(turned.map((one: any) => one.name).sort()).toEqual(["Cursor gnp.exe", "deZ"]);
    expect(JSON.stringify(turned)).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/);
  });

  test("from a device manager keeps the client settings and dismissal that a collector or a person recorded", async () => {
    const scout = await registerCollector(owner, world.gateway.runtimeUrl, { tier: "high" });
    const seen = (digest: string) =>
      seenClient("m7", "cursor", {
        config_digest: digest.repeat(64),
        endpoints: ["https://models.example"],
        attributes: { client: "cursor", model_endpoint: "https://models.example" },
      });
    const told = async () => (await owner.get("/v1/admin/discovery/assets?device_id=m7")).assets[0];
    await scout.report(seen("1"));
    const { id, attributes } = await told();
    await owner.post(`/v1/admin/discovery/assets/${id}/dismiss`, { reason: "a toy" });
    expect((await upload("mdm-csv", "device,application,version\nm7,Cursor,2.0\n")).body).toMatchObject({ found: 1, added: 0 });
    expect(await told()).toMatchObject({
      ...{ version: "2.0", source: "mdm_csv", attributes, config_digest: "1".repeat(64), endpoints: ["https://models.example"] },
      ...{ governance_status: "dismissed", dismissed_reason: "a toy" },
    });
    await scout.report(seen("1"));
    expect((await told()).governance_status).toBe("dismissed");
    await scout.report(seen("2"));
    expect((await told()).governance_status).toBe("ungoverned");
  });

  test("from a device manager without versions keeps the known versions", async () => {
    const scout = await registerCollector(owner, world.gateway.runtimeUrl, { tier: "high" });
    await scout.report(seenClient("m8", "cursor", { version: "0.48" }));
    expect((await upload("mdm-csv", "device,application\nm8,Cursor\n")).body).toMatchObject({ found: 1, added: 0 });
    const { assets } = await owner.get("/v1/admin/discovery/assets?device_id=m8");
    expect(assets).toMatchObject([{ version: "0.48", source: "mdm_csv" }]);
  });

  test("from a device manager keeps the latest values of a device that is listed several times", async () => {
    const lines = ["m10,Ten,Cursor,2026-03-02T00:00:00Z", "m10,,Zed,2026-02-01T00:00:00Z"];
    await upload("mdm-csv", `device id,device name,application,last seen\n${lines.join("\n")}\n`);
    const { devices } = await owner.get("/v1/admin/discovery/devices?page_size=200");
    expect(devices.find(({ device_id: id }: any) => id === "m10")).toMatchObject({
      device_name: "Ten",
      last_seen: "2026-03-02T00:00:00.000Z",
    });
  });

  test("from a device manager and concurrent collector reports on the same devices all succeed", async () => {
    const scout = await registerCollector(owner, world.gateway.runtimeUrl, { tier: "high" });
    const devices = Array.from({ length: 12 }, (_, at) => `busy ${at}`);
    const file = `device,application,version\n${devices.map((device) => `${device},Cursor,1\n`).join("")}`;
    const report = (device: string) => scout.report(seenClient(device, "cursor"));
    await Promise.all(devices.map(report));
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all([upload("mdm-csv", file), ...devices.map(report)]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    }
  });

  test.each([
    ["cyclonedx", "{}", "CycloneDX"],
    ["cyclonedx", bom({ specVersion: "2.0" }), "1.5, 1.6, 1.7"],
    ["cyclonedx", "{", "JSON"],
    ["cyclonedx", `${"[".repeat(100_000)}`, "JSON"],
    ["agent-inventory", '"text"', "object or array"],
    ["agent-inventory", "{}", "names no agents"],
    ["mdm-csv", "", "empty"],
    ["mdm-csv", "a,b\n1,2", "device"],
    ["mdm-csv", 'device,application\n"never closed', "CSV"],
    ["mdm-csv", new Uint8Array([0xff, 0xfe, 0x00]), "UTF-8"],
  ])("in an invalid %s file is refused as a whole: %p", async (adapter, content, why) => {
    const before = (await owner.get("/v1/admin/discovery/assets")).total;
    expect(await upload(adapter, content as string)).toMatchObject({
      status: 400,
      body: { fields: [{ field: "file", message: expect.stringContaining(why) }] },
    });
    expect((await owner.get("/v1/admin/discovery/assets")).total).toBe(before);
  });

  test("in CycloneDX is read at any nesting depth", async () => {
    let component: object = { type: "machine-learning-model", name: "deepest" };
    for (let depth = 0; depth < 2_000; depth++) component = { type: "library", name: "x", components: [component] };
    expect((await upload("cyclonedx", bom({ components: [component] }))).body).toMatchObject({ found: 1 });
  });
});

describe("the asset registry", () => {
  test("follows records and discovered assets, and keeps people's entries when a record is deleted", async () => {
    await owner.post("/v1/admin/assets/sync", {});
    const of = async (search: string) => (await owner.get(`/v1/admin/assets?search=${search}`)).assets;
    expect((await of("known-model")).map(({ source }: any) => source.kind).sort()).toEqual(["discovered_assets", "models"]);
    const [server] = await of("known%20server");
    expect(server).toMatchObject({ asset_type: "mcp_server", governance_status: "governed", endpoint: "https://mcp.known.example/mcp" });
    const changed = await owner.request("PATCH", `/v1/admin/assets/${server.id}`, { owner: "Platform", criticality: "high" });
    expect(changed).toMatchObject({ status: 200, body: { owner: "Platform" } });
    expect(await owner.request("PATCH", `/v1/admin/assets/${server.id}`, { name: "mine" })).toMatchObject({ status: 400 });
    expect(await owner.post("/v1/admin/assets/sync", {})).toMatchObject({ added: 0, changed: 0, gone: 0 });
    await owner.request("DELETE", `/v1/admin/mcp-servers/${server.source.id}`);
    expect(await owner.post("/v1/admin/assets/sync", {})).toMatchObject({ added: 0, gone: 1 });
    expect((await of("known%20server"))[0]).toMatchObject({ status: "gone", owner: "Platform" });
  });

  test("is exported as JSON, as CSV with formulas escaped, and as CycloneDX that can be imported again", async () => {
    await owner.post("/v1/admin/assets", { name: "=1+1", asset_type: "model", tags: ["a", "b"] });
    const exported = async (format: string) => {
      const answer = await fetch(`${world.gateway.adminUrl}/v1/admin/assets/export?format=${format}`, {
        headers: { authorization: `Bearer ${owner.token}` },
      });
      expect(answer.status).toBe(200);
      return answer.text();
    };
    const { total } = await owner.get("/v1/admin/assets");
    expect(JSON.parse(await exported("json")).assets).toHaveLength(total);
    const csv = await exported("csv");
    expect(csv.trim().split("\r\n")).toHaveLength(total + 1);
    expect(csv).toContain(`"'=1+1"`);
    const file = await exported("cyclonedx");
    expect(JSON.parse(file)).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" });
    expect(JSON.parse(file).components.length + JSON.parse(file).services.length).toBe(total);
    expect((await upload("cyclonedx", file)).status).toBe(200);
    expect((await other.get("/v1/admin/assets")).total).toBe(0);
  });
});
