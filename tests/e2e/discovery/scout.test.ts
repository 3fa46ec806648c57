import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { removeDirectory, temporaryDirectory } from "../../support/gateway.ts";
import { type Planted, plantClients, SECRET } from "../../support/records/planted-clients.ts";
import { startWorld, type World } from "../../support/world.ts";

/**
 * The scout as a separate process, on a home directory full of configurations, reporting to a gateway through a proxy that records the
 * traffic.
 */
let world: World;
let wire: ReturnType<typeof Bun.serve>;
let folder: string;
let home: string;
let planted: Planted;
let serverId: string;
let keyId: string;
const sent: string[] = [];
const COLLECTOR = "laptop-of-a-test";
const COMMAND = fileURLToPath(new URL("../../../bin/gatehouse.mjs", import.meta.url));

beforeAll(async () => {
  world = await startWorld();
  wire = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.text();
      sent.push(body);
      const { pathname } = new URL(request.url);
      const { headers } = request;
      return fetch(`${world.gateway.runtimeUrl}${pathname}`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", "x-gw-collector-signature": headers.get("x-gw-collector-signature") ?? "" },
      });
    },
  });
  folder = await temporaryDirectory();
  home = join(folder, "home");
  mkdirSync(home);
  serverId = (await world.admin.post("/v1/admin/mcp-servers", { name: "tools", base_url: "http://tools.example" })).id;
  planted = plantClients(home, world.gateway.runtimeUrl as string, serverId);
  const { output } = await scout("key");
  keyId = (
    await world.admin.post("/v1/admin/discovery/collector-keys", {
      collector_id: COLLECTOR,
      public_key: /public_key (\S+)/.exec(output)?.[1],
      trust_tier: "low",
    })
  ).id;
});
afterAll(async () => {
  await wire.stop(true);
  await world.end();
  await removeDirectory(folder);
});

async function scout(...args: readonly string[]): Promise<{ code: number; output: string; errors: string }> {
  const { XDG_CONFIG_HOME: _config, ...env } = process.env;
  const child = Bun.spawn(["node", COMMAND, "scout", ...args], { env: { ...env, HOME: home }, stdout: "pipe", stderr: "pipe" });
  const [output, errors, code] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { code, output, errors };
}
const toGateway = (...more: readonly string[]) =>
  scout("--gateway", `http://127.0.0.1:${wire.port}`, "--collector", COLLECTOR, "--key-id", keyId, ...more);
const assets = async (query = "") => (await world.admin.get(`/v1/admin/discovery/assets?limit=200${query}`)).assets;
const names = (of: any[], type: string) =>
  of
    .filter(({ asset_type: one }) => one === type)
    .map(({ name }) => name)
    .sort();

test("a dry run prints the events without secrets and sends nothing", async () => {
  const { code, output } = await toGateway("--dry-run");
  expect(code).toBe(0);
  expect(sent).toEqual([]);
  expect(output).not.toContain(SECRET);
  const events = output
    .trim()
    .split("\n")
    .flatMap((line) => JSON.parse(line).events);
  expect(names(events, "local_mcp_server")).toEqual([...planted.servers]);
});

test("every server of every client is found with its governance status, and no secret leaves the device", async () => {
  const { code, errors } = await toGateway("--once");
  expect([code, errors]).toEqual([0, ""]);
  for (const body of sent) {
    expect(body).not.toContain(SECRET);
    expect(body).not.toContain(home);
  }
  const found = await assets();
  expect(names(found, "local_mcp_server")).toEqual([...planted.servers]);
  expect(names(found, "local_ai_client")).toEqual([...planted.clients]);
  const by = Object.fromEntries(found.map((asset: any) => [asset.name, asset]));
  const governed = found.filter((asset: any) => asset.governance_status === "governed").map(({ name }: any) => name);
  expect(governed.sort()).toEqual(["claude-code-governed", "cline-bridge", "cursor-governed"]);
  expect(by["Cline"].governance_status).toBe("partially_governed");
  expect(by["Claude Code"].governance_status).toBe("partially_governed");
  expect(by["Codex"].governance_status).toBe("partially_governed");
  expect(by["claude-desktop-remote"]).toMatchObject({
    endpoints: ["https://mcp.vendor.example"],
    attributes: { header_count: 2, transport: "http" },
  });
  expect(by["claude-desktop-process"]).toMatchObject({
    endpoints: [],
    attributes: { command: "npx", package: "claude-desktop-package", package_version: "1.2.3", args_count: 9, env_count: 2, scope: "user" },
  });
  expect(by["lm-studio-variable"].attributes.unresolved).toBe(true);
  expect(by["cline-off"].attributes.inactive).toBe(true);
  expect(by["claude-desktop-process"].device_name).toBeNull();
});

test("removed assets are reported, names are hashed on request, and a device key readable by others is not used", async () => {
  rmSync(join(home, ".lmstudio"), { recursive: true });
  expect((await toGateway("--once", "--hash-names", "--device-name", "Mary's")).code).toBe(0);
  const seen = JSON.parse(sent.at(-1) as string).events.filter(({ kind }: any) => kind === "asset_seen");
  expect(names(seen, "local_mcp_server").every((name: string) => /^[0-9a-f]{64}$/.test(name))).toBe(true);
  const gone = await assets("&status=gone");
  expect(gone.map(({ name }: any) => name)).toContain("lm-studio-variable");
  expect(gone.map(({ name }: any) => name)).toContain("LM Studio");
  const [active] = await assets("&status=active&asset_type=local_mcp_server");
  expect([active.name, active.device_name]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), "Mary's"]);

  const state = join(home, process.platform === "darwin" ? "Library/Application Support" : ".config", "gatehouse-scout");
  for (const name of readdirSync(state)) expect(statSync(join(state, name)).mode & 0o077).toBe(0);
  chmodSync(join(state, "device.json"), 0o644);
  const { code, errors } = await toGateway("--once");
  expect([code, errors]).toEqual([1, expect.stringContaining("can be read by others")]);
  chmodSync(join(state, "device.json"), 0o600);
});

test("a file with exponential YAML aliases does not stop the scan", async () => {
  const laughs = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`).join("\n");
  writeFileSync(join(home, ".config/goose/config.yaml"), `a0: &a0 x\n${laughs}\nextensions:\n  bomb: { cmd: uvx, args: *a30 }\n`);
  expect((await toGateway("--once")).code).toBe(0);
  expect((await assets("&q=cursor-governed&status=active")).map(({ name }: any) => name)).toEqual(["cursor-governed"]);
});

test("wrong arguments are reported, and a single scan refused by the gateway exits with 1", async () => {
  expect((await scout("--gateway", "nonsense", "--collector", "c", "--key-id", keyId)).errors).toContain("--gateway must be");
  expect((await scout("--collector", "c")).errors).toContain("--gateway is required");
  expect((await scout("--nonsense")).code).toBe(1);
  expect((await scout("--help")).output).toContain("--dry-run");
  const { code, errors } = await scout("--gateway", `http://127.0.0.1:${wire.port}`, "--collector", "other", "--key-id", keyId, "--once");
  expect([code, errors]).toEqual([1, expect.stringContaining("answered 401")]);
  expect((await toGateway("service", "--device-name", '50% "quoted"')).output).toContain('"50%% \\"quoted\\""');
});
