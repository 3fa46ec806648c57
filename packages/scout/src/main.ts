import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { deviceState, type DeviceState } from "./device-state.ts";
import { discoveryEventsOf, requestsOf, type ReportSettings, reportedAssets } from "./discovery-events.ts";
import { filesWithin } from "./files.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { itemsIn, membersOf } from "./parse-config.ts";
import { type Places, placesOf, type Platform } from "./places.ts";
import { type Scan, scanHome } from "./scan.ts";
import { serviceFile } from "./service-file.ts";

const ANSWER_MS = 30_000;
const MINUTE_MS = 60_000;
const MAX_REASON_LENGTH = 300;

const platform: Platform = process.platform === "darwin" || process.platform === "win32" ? process.platform : "linux";

function homesOf({ allUsers }: Options): string[] {
  const own = homedir();
  if (!allUsers) return [own];
  const above = platform === "darwin" ? "/Users" : "/home";
  const others = existsSync(above) ? readdirSync(above, { withFileTypes: true }).filter((entry) => entry.isDirectory()) : [];
  return [...new Set([own, ...others.map(({ name }) => join(above, name))])];
}

function scanned(options: Options, gatewayOrigins: ReadonlySet<string>): Scan {
  const projects = options.projects.map((folder) => resolve(folder));
  const all = homesOf(options).map((home, at) => {
    const places = placesOf(platform, home);
    const roots = [home, ...projects, places.managed("ClaudeCode"), places.managed("codex")];
    // Named folders and settings managed by administrators belong to no home, so they are scanned once.
    return scanHome(filesWithin(at === 0 ? roots : [home]), places, gatewayOrigins, at === 0 ? projects : []);
  });
  return { clients: mergedClients(all), servers: all.flatMap(({ servers }) => servers) };
}

/** Each client is reported once per device, whichever of its users configured it. */
function mergedClients(all: readonly Scan[]): Scan["clients"] {
  const merged = new Map<string, Scan["clients"][number]>();
  for (const client of all.flatMap(({ clients }) => clients)) {
    const before = merged.get(client.client);
    const configuration = before === undefined ? client.configuration : `${before.configuration}\n${client.configuration}`;
    merged.set(client.client, { ...client, configuration, modelEndpoint: before?.modelEndpoint ?? client.modelEndpoint });
  }
  return [...merged.values()];
}

/**
 * Resolves to the origins at which clients reach the gateway, as it reports them. Throws with a readable message if the gateway refused.
 */
async function sent(gateway: string, { body, signature }: { body: string; signature: string }): Promise<readonly string[]> {
  const answer = await fetch(`${gateway}/v1/discovery/events`, {
    method: "POST",
    redirect: "error",
    headers: { "content-type": "application/json", "x-gw-collector-signature": signature },
    body,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the gateway answered ${answer.status}: ${text.slice(0, MAX_REASON_LENGTH)}`);
  const { gateway_origins: origins, rejected } = membersOf(JSON.parse(text) as unknown);
  for (const one of itemsIn(rejected)) process.stderr.write(`not taken: ${String(membersOf(one).reason)}\n`);
  return itemsIn(origins).filter((origin): origin is string => typeof origin === "string");
}

async function scanAndReport(options: Options, state: DeviceState): Promise<void> {
  const reportSettings: ReportSettings = {
    collectorId: options.collector,
    keyId: options.keyId,
    deviceName: options.deviceName,
    hashNames: options.hashNames,
  };
  const before = state.remembered();
  let origins = [...new Set([new URL(options.gateway).origin, ...before.gatewayOrigins])];
  if (!options.dryRun) {
    // Sent first: the gateway reports its addresses, which decide how their paths are reported.
    const [heartbeat] = requestsOf(discoveryEventsOf([], [], state, new Date()), state, reportSettings, new Date());
    if (heartbeat !== undefined) origins = [...new Set([new URL(options.gateway).origin, ...(await sent(options.gateway, heartbeat))])];
  }
  const assets = reportedAssets(scanned(options, new Set(origins)), state, reportSettings);
  const now = new Date();
  for (const request of requestsOf(discoveryEventsOf(assets, before.assets, state, now), state, reportSettings, now)) {
    if (options.dryRun) process.stdout.write(`${request.body}\n`);
    else await sent(options.gateway, request);
  }
  if (!options.dryRun) {
    state.remember({ assets, gatewayOrigins: origins });
    process.stdout.write(`Told of ${assets.length} assets.\n`);
  }
}

function stateFolder({ state }: Options, { join: joined, config, applications }: Places): string {
  return state ?? joined(platform === "darwin" ? applications : config, "gatehouse-scout");
}

async function run(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options === null) return void process.stdout.write(HELP);
  if (options.command === "service") {
    const rest = args.filter((arg) => arg !== "service");
    return void process.stdout.write(serviceFile(platform, [process.execPath, resolve(import.meta.path), ...rest]));
  }
  const state = deviceState(stateFolder(options, placesOf(platform, homedir())));
  if (options.command === "key") return void process.stdout.write(`device_id ${state.deviceId}\npublic_key ${state.publicKey}\n`);
  for (;;) {
    try {
      await scanAndReport(options, state);
    } catch (error) {
      if (options.once || options.dryRun) throw error;
      process.stderr.write(`gatehouse scout: ${(error as Error).message}\n`);
    }
    if (options.once || options.dryRun) return;
    await delay(options.everyMinutes * MINUTE_MS);
  }
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`gatehouse scout: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
