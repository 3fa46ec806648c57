import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cpuMsOfTree } from "./processes/cpu-time.ts";
import { startLasting } from "./processes/lasting-process.ts";

export const ADMIN_PASSWORD = "correct horse battery";
const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

interface StartOfGateway {
  readonly command: readonly [string, ...string[]];
  readonly env: Record<string, string>;
}

/**
 * The process that the launcher turns into where Node supports that (bin/gatehouse.mjs); tests start it directly, with any version of Node.
 */
async function startOfGateway(): Promise<StartOfGateway> {
  const [{ BUN_FLAGS, bunEnvironment, findBun }, { serverProgram }] = await Promise.all(
    ["bun.mjs", "server-bundle.mjs"].map((name) => import(join(PROJECT, "bin", name))),
  );
  return { command: [findBun(), ...BUN_FLAGS, serverProgram(), "start"], env: bunEnvironment({}) };
}

let usualStart: Promise<StartOfGateway> | undefined;

/** A gateway as users run it: its own process and data directory, driven through its two ports. */
export interface GatewayProcess {
  readonly runtimeUrl: string;
  readonly adminUrl: string;
  readonly dataDir: string;
  /** PID of the gateway, or with a custom command, of that command's child. */
  pid(): number;
  /** CPU time in milliseconds so far, of the process and all its descendants. */
  cpuMs(): number;
  /** Everything printed to both streams. */
  output(): string;
  running(): boolean;
  /** Sends SIGTERM and resolves to the exit code. */
  stop(): Promise<number>;
  /** Sends SIGKILL to the gateway itself and resolves when it is gone. */
  kill(): Promise<void>;
}

export interface GatewayOptions {
  readonly databaseUrl?: string;
  readonly dataDir?: string;
  readonly env?: Record<string, string>;
  /** Custom start command, run in the project's folder, for tests about starting. */
  readonly command?: readonly [string, ...string[]];
}

export async function temporaryDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), "gatehouse-test-"));
}

export async function startGateway(options: GatewayOptions = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? (await temporaryDirectory());
  const start = options.command === undefined ? await (usualStart ??= startOfGateway()) : { command: options.command, env: {} };
  const env: Record<string, string> = {
    ...inherited(),
    ...start.env,
    GW_RUNTIME_PORT: "0",
    GW_ADMIN_PORT: "0",
    GW_DATA_DIR: dataDir,
    GW_BOOTSTRAP_ADMIN_PASSWORD: ADMIN_PASSWORD,
    GW_DRAIN_NOTICE_SECONDS: "0",
    GW_DRAIN_SECONDS: "5",
    GW_PROCESSES: "1",
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    ...options.env,
  };
  let output = "";
  const urls: string[] = [];
  const ready = Promise.withResolvers<void>();
  const started = await startLasting(start.command, {
    cwd: PROJECT,
    env,
    onLine(line, error) {
      output += `${line}\n`;
      if (error) return;
      const url = /^ {2}(?:runtime|control) plane +(http:\/\/\S+)/.exec(line)?.[1];
      if (url !== undefined) urls.push(url);
      if (/^ {2}database /.test(line)) ready.resolve();
    },
  });
  void started.exited.then((code) => ready.reject(new Error(`the gateway ended with ${code} before it was ready:\n${output}`)));
  await ready.promise;
  const [runtimeUrl = "", adminUrl = urls[0] ?? ""] = urls;
  const pid = () => (options.command === undefined ? started.pid : childOf(started.pid));
  return {
    runtimeUrl,
    adminUrl,
    dataDir,
    pid,
    cpuMs: () => cpuMsOfTree(started.pid),
    output: () => output,
    running: () => started.exitCode() === undefined,
    async stop() {
      started.kill("SIGTERM");
      return started.exited;
    },
    async kill() {
      process.kill(pid(), "SIGKILL");
      await started.exited;
    },
  };
}

/** The part of the test's environment that the gateway and PostgreSQL need, without any of our settings. */
function inherited(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name, value]) =>
        value !== undefined &&
        !/^(?:GW|BUN|MIMALLOC)_/.test(name) &&
        name !== "DATABASE_URL" &&
        name !== "VALKEY_URL" &&
        !name.endsWith("_API_KEY") &&
        name !== "OLLAMA_HOST",
    ),
  ) as Record<string, string>;
}

function childOf(pid: number): number {
  const { readdirSync, readFileSync } = require("node:fs") as typeof import("node:fs");
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      if (Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid) return Number(entry);
    } catch {
      // The process ended meanwhile.
    }
  }
  throw new Error(`process ${pid} has no child`);
}

export async function removeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
