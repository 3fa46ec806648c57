import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { findHome } from "../../../server/store/embedded/home.ts";
import { openDataDirectory } from "../../../server/store/data-directory.ts";
import { type LastingProcess, startLasting } from "./lasting-process.ts";
import { PATIENCE_MS } from "../patience.ts";

/**
 * A PostgreSQL with a synchronous standby. When the primary is killed, the standby takes over, and a new standby replaces the dead server.
 */
export interface ReplicatedPostgres {
  /** URL of the current primary; it changes with each failover. */
  readonly url: string;
  /** Kills the primary with all its processes, and resolves when the standby accepts writes. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const POSTGRES = fileURLToPath(new URL("./postgres-process.ts", import.meta.url));
const PRIMARY = { wal_level: "replica", max_wal_senders: "4", wal_keep_size: "256MB", hot_standby: "on" };

interface Server {
  readonly path: string;
  readonly process: LastingProcess;
  readonly url: string;
}

async function startServer(path: string, settings: Record<string, string>): Promise<Server> {
  const ready = Promise.withResolvers<string>();
  let said = "";
  const keeper = await startLasting([process.execPath, POSTGRES, path, JSON.stringify({ ...PRIMARY, ...settings })], {
    onLine: (line, error) => (error ? (said += `${line}\n`) : ready.resolve(line)),
  });
  void keeper.exited.then((code) => ready.reject(new Error(`PostgreSQL ended with ${code}: ${said}`)));
  return { path, process: keeper, url: await ready.promise };
}

async function asked<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Starts a standby that is copied from `primary` and follows it. */
async function startStandby(primary: Server, path: string): Promise<Server> {
  const password = new URL(primary.url).password;
  const directory = openDataDirectory(path);
  directory.secret("postgresql-password", () => decodeURIComponent(password));
  directory.close();
  const from = findHome(primary.path).cluster;
  const { cluster } = findHome(path);
  rmSync(cluster, { recursive: true, force: true });
  await asked(primary.url, async (client) => {
    await client.query("SELECT pg_backup_start('standby', true)");
    cpSync(from, cluster, { recursive: true, filter: (file) => !/postmaster\.(pid|opts)$|pg_replslot\/.|pg_stat_tmp\/./.test(file) });
    const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
    writeFileSync(join(cluster, "backup_label"), rows[0]?.labelfile ?? "");
  });
  writeFileSync(join(cluster, "standby.signal"), "");
  const socket = new URL(primary.url).searchParams.get("host");
  const standby = await startServer(path, {
    primary_conninfo: `host=${socket} user=gatehouse password=${decodeURIComponent(password)} application_name=standby`,
  });
  await until("the standby's first bytes", () =>
    asked(primary.url, async (client) => {
      const { rows } = await client.query("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'");
      if (rows.length === 0) return false;
      await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await client.query("SELECT pg_reload_conf()");
      return true;
    }),
  );
  return standby;
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`${what} do not come`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Kills the supervising process first, so that nothing restarts the server. */
async function killServer({ path, process: keeper }: Server): Promise<void> {
  const postmaster = Number(readFileSync(join(findHome(path).cluster, "postmaster.pid"), "utf8").split("\n")[0]);
  keeper.kill("SIGKILL");
  try {
    process.kill(postmaster, "SIGKILL");
  } catch {
    // The supervisor noticed first.
  }
  await keeper.exited;
}

export async function startReplicatedPostgres(folder: string): Promise<ReplicatedPostgres> {
  let made = 0;
  const newPath = () => {
    const path = join(folder, `server-${made++}`);
    mkdirSync(path, { mode: 0o700, recursive: true });
    return path;
  };
  let primary = await startServer(newPath(), {});
  let standby = await startStandby(primary, newPath());
  // Read while the directories exist: the home may be outside the folder.
  const homes = new Set([findHome(primary.path).path, findHome(standby.path).path]);
  return {
    get url() {
      return primary.url;
    },
    async failOver() {
      const dead = primary;
      await killServer(dead);
      await asked(standby.url, async (client) => {
        // There is no standby to replicate to yet.
        await client.query("SELECT pg_promote(true)");
        await client.query("ALTER SYSTEM RESET synchronous_standby_names");
        await client.query("SELECT pg_reload_conf()");
      });
      primary = standby;
      rmSync(findHome(dead.path).path, { recursive: true, force: true });
      rmSync(dead.path, { recursive: true, force: true });
      standby = await startStandby(primary, newPath());
      homes.add(findHome(standby.path).path);
    },
    async stop() {
      for (const server of [standby, primary]) {
        server.process.kill("SIGTERM");
        await server.process.exited;
      }
      for (const path of homes) rmSync(path, { recursive: true, force: true });
    },
  };
}
