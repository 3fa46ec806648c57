import { fileURLToPath } from "node:url";
import { plainEnvironment } from "../processes/environment.ts";
import { placed } from "../processes/placement.ts";
import { ProcessOutput } from "../processes/process-output.ts";
import { register } from "../processes/registry.ts";
import { scratchDirectory } from "../processes/scratch.ts";
import { Admin } from "./admin.ts";
import { announcedAddresses } from "./announced-addresses.ts";
import { respondsAt } from "./readiness.ts";
import { openSession, registerToolServer } from "./gatehouse-tools.ts";
import type { Upstream } from "../upstream/upstream.ts";
import { type Endpoint, type Preparation, type StartTarget, type Target, UPSTREAM_MODEL } from "./target.ts";

const launcher = fileURLToPath(new URL("../../bin/gatehouse.mjs", import.meta.url));
const PASSWORD = "bench-admin-password";

/** Strict durability and all defaults: nothing is turned off for the benchmark. */
export const startGatehouse: StartTarget = (upstream) => start(upstream, "gatehouse", ["node", launcher, "start"], "strict");

/** Same, but answers do not wait for the disk. */
export const startRelaxed: StartTarget = (upstream) => start(upstream, "relaxed", ["node", launcher, "start"], "relaxed");

/** Same, without a ledger. */
export const startUnrecorded: StartTarget = (upstream) =>
  start(upstream, "unrecorded", [process.execPath, fileURLToPath(new URL("../unrecorded/start.ts", import.meta.url))], "relaxed");

async function start(upstream: Upstream, name: Target["name"], command: string[], durability: "strict" | "relaxed"): Promise<Target> {
  const scratch = scratchDirectory();
  const child = Bun.spawn(placed("target", command), {
    cwd: scratch,
    env: plainEnvironment({
      GW_DATA_DIR: `${scratch}/${name}`,
      GW_RUNTIME_PORT: "0",
      GW_ADMIN_PORT: "0",
      GW_AUDIT_DURABILITY: durability,
      GW_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
      GW_DRAIN_NOTICE_SECONDS: "0",
      GW_DRAIN_SECONDS: "5",
    }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  register({ name, pid: child.pid, exited: child.exited });
  const output = new ProcessOutput(child.stdout, child.stderr);
  let epitaph: string | undefined;
  void child.exited.then(
    () => (epitaph = `it has ended (${child.signalCode ?? `code ${child.exitCode}`}); its last words: ${output.lastOutput()}`),
  );
  const { runtime, control } = await announcedAddresses(output, 120_000);
  await respondsAt(`${runtime}/readyz`, child.exited, 30_000);

  const admin = new Admin(control);
  await admin.login("admin", PASSWORD);
  const providers = new Set<string>();

  async function makeProvider(format: Exclude<Preparation["call"]["upstreamFormat"], "mcp">): Promise<void> {
    const base = `http://127.0.0.1:${upstream.port}`;
    await admin.post("/v1/admin/providers", {
      provider_key: `bench-${format}`,
      name: `Benchmark ${format}`,
      api_format: format,
      base_url: format === "openai" ? `${base}/v1` : base,
      api_key: "sk-bench-upstream",
      tenant_id: "default",
    });
  }

  /** Creates a group, a key and a model or tool server for the case, so that its configuration affects no other case. */
  async function prepare({ name: caseName, call, configure }: Preparation): Promise<Endpoint> {
    const format = call.upstreamFormat;
    if (format !== "mcp" && !providers.has(format)) await makeProvider(format);
    providers.add(format);
    const group = await admin.post("/v1/admin/resource-groups", {
      name: `bench-${caseName}`,
      display_name: `Benchmark ${caseName}`,
      group_type: "team",
    });
    const groupId = String(group["id"]);
    const model = `bench-${caseName}`;
    const serverId = format === "mcp" ? await registerToolServer(admin, caseName, `http://127.0.0.1:${upstream.port}`, groupId) : null;
    if (serverId === null)
      await admin.post("/v1/admin/llms", {
        name: model,
        model_name: UPSTREAM_MODEL,
        mode: "chat",
        provider: `bench-${format}`,
        enabled: true,
        group_ids: [groupId],
      });
    const key = await admin.post(`/v1/admin/resource-groups/${groupId}/api-keys`, { name: `bench-${caseName}`, access_mode: "shared" });
    // Without a ledger, Gatehouse is measured with everything off.
    if (name !== "unrecorded") await configure?.(admin, groupId, serverId);
    const { body = call.body, check = call.check } = call.atGatehouse;
    const path = call.atGatehouse.path + (serverId ?? "");
    const headers = { ...call.headers, authorization: `Bearer ${String(key["key_value"])}` };
    const session =
      serverId === null || call.headers?.["mcp-session-id"] === undefined ? {} : await openSession(`${runtime}${path}`, headers);
    return { port: Number(new URL(runtime).port), path, headers: { ...headers, ...session }, body: JSON.stringify(body(model)), check };
  }

  return { name, pid: child.pid, prepare, exitReport: () => epitaph };
}
