import { afterEach, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, realpathSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { leastOf } from "../../tests/support/until.ts";
import type { Log } from "../kernel/log.ts";
import { openDataDirectory } from "./data-directory.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded.ts";

const parents: string[] = [];
const homes = new Set<string>();
afterEach(() => {
  for (const path of [...homes, ...parents]) rmSync(path, { recursive: true, force: true });
  homes.clear();
  parents.length = 0;
});

function newPath(name: string, parentMode = 0o755): string {
  const parent = mkdtempSync(join(tmpdir(), "gatehouse-"));
  chmodSync(parent, parentMode);
  parents.push(parent);
  return join(parent, name);
}

function listeningLog(onEvent: (event: string) => void): Log {
  return { debug: onEvent, info: onEvent, warn: onEvent, error: onEvent };
}

async function withPostgres<T>(
  path: string,
  work: (postgres: EmbeddedPostgres) => Promise<T>,
  onEvent: (event: string) => void = () => {},
): Promise<T> {
  const directory = openDataDirectory(path);
  try {
    const postgres = await startEmbeddedPostgres({ directory, log: listeningLog(onEvent) });
    homes.add(postgres.home);
    try {
      return await work(postgres);
    } finally {
      await postgres.stop();
    }
  } finally {
    directory.close();
  }
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query({ text, rowMode: "array" })).rows.flat();
  } finally {
    await client.end();
  }
}

const postmaster = (home: string) => Number(readFileSync(join(home, "cluster", "postmaster.pid"), "utf8").split("\n")[0]);

/** What another process does with the data directory until it is killed; `before` gets the process ID of a child of its PostgreSQL. */
async function killedHolder(path: string, before: (checkpointer: number) => void = () => {}): Promise<void> {
  const script = `
    import pg from "pg";
    import { openDataDirectory } from ${JSON.stringify(import.meta.resolve("./data-directory.ts"))};
    import { startEmbeddedPostgres } from ${JSON.stringify(import.meta.resolve("./embedded.ts"))};
    const nothing = () => {};
    const { url } = await startEmbeddedPostgres({ directory: openDataDirectory(${JSON.stringify(path)}), log: { debug: nothing, info: nothing, warn: nothing, error: console.error } });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("CREATE TABLE IF NOT EXISTS kept (n int)");
    await client.query("INSERT INTO kept VALUES (1)");
    console.log((await client.query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'")).rows[0].pid);
    setInterval(() => {}, 1000);
  `;
  const holder = spawn(process.execPath, ["-e", script], { cwd: import.meta.dir, stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise((resolve) => holder.once("exit", resolve));
  before(Number(await new Promise((resolve) => holder.stdout.once("data", resolve))));
  holder.kill("SIGKILL");
  await gone;
}

describe("the embedded PostgreSQL", () => {
  test("keeps data, secrets and settings between starts, also under a path with spaces and quotes", async () => {
    const path = newPath(`a b'c"d`);
    await withPostgres(path, ({ url }) => query(url, "CREATE TABLE kept AS SELECT 7 AS n"));
    await withPostgres(path, async ({ url, home }) => {
      expect(await query(url, "SELECT n FROM kept")).toEqual([7]);
      expect(statSync(join(home, "cluster")).uid).not.toBe(0);
      expect(statSync(join(path, "secrets")).uid).toBe(process.getuid?.() ?? -1);
      const wrong = new URL(url);
      wrong.password = "wrong";
      await expect(query(wrong.href, "SELECT 1")).rejects.toThrow("password authentication failed");
      expect(
        await query(
          url,
          "SELECT current_setting('fsync'), current_setting('synchronous_commit'), current_setting('full_page_writes'), current_setting('listen_addresses')",
        ),
      ).toEqual(["on", "on", "on", ""]);
      expect(
        await query(url, "SELECT pg_encoding_to_char(encoding), datcollate FROM pg_database WHERE datname = current_database()"),
      ).toEqual(["UTF8", "C"]);
    });
  });

  test("runs under a path too long for a socket address", () =>
    withPostgres(newPath("x".repeat(120)), async ({ url }) => expect(await query(url, "SELECT 1")).toEqual([1])));

  test("is stored inside the data directory, or elsewhere if its user cannot access that", async () => {
    const [open, closed] = [newPath("data"), newPath("data", 0o700)];
    await withPostgres(open, async ({ home }) => expect(home).toBe(join(realpathSync(open), "postgresql")));
    const outside = await withPostgres(closed, async ({ url, home }) => {
      await query(url, "CREATE TABLE kept AS SELECT 7 AS n");
      return home;
    });
    if (process.getuid?.() === 0) expect(outside).toStartWith("/var/lib/gatehouse/");
    await withPostgres(closed, async ({ url, home }) => {
      expect(home).toBe(outside);
      expect(await query(url, "SELECT n FROM kept")).toEqual([7]);
    });
  });

  test("starts from a copy owned by the user who restored it", async () => {
    const path = newPath("data");
    await withPostgres(path, ({ url }) => query(url, "CREATE TABLE kept AS SELECT 7 AS x"));
    const restored = newPath("restored");
    expect(spawnSync("cp", ["-r", path, restored]).status).toBe(0);
    await withPostgres(restored, async ({ url }) => expect(await query(url, "SELECT x FROM kept")).toEqual([7]));
  });

  test("recovers after its owner was killed, with all committed rows", async () => {
    const path = newPath("data");
    for (let round = 1; round <= 3; round += 1) {
      await killedHolder(path);
      await withPostgres(path, async ({ url }) => expect(await query(url, "SELECT count(*)::int FROM kept")).toEqual([round]));
    }
  });

  test("starts again after it was killed together with its owner", async () => {
    const path = newPath("data");
    const home = await withPostgres(path, async (postgres) => postgres.home);
    await killedHolder(path, (checkpointer) => {
      // A child that is slow to notice keeps the dead server's shared memory.
      process.kill(checkpointer, "SIGSTOP");
      process.kill(postmaster(home), "SIGKILL");
    });
    await withPostgres(path, async ({ url }) => expect(await query(url, "SELECT count(*)::int FROM kept")).toEqual([1]));
  });

  test("starts again quickly after its owner was killed while the server was stopped by SIGSTOP", async () => {
    const path = newPath("data");
    const home = await withPostgres(path, async (postgres) => postgres.home);
    const took = await leastOf(3, 10_000, async () => {
      await killedHolder(path, (checkpointer) => {
        for (const pid of [postmaster(home), checkpointer]) process.kill(pid, "SIGSTOP");
      });
      const began = performance.now();
      return withPostgres(path, async ({ url }) => {
        expect(await query(url, "SELECT count(*) > 0 FROM kept")).toEqual([true]);
        return performance.now() - began;
      });
    });
    // A stopped server is killed right away, without waiting as long as for one that reacts.
    expect(took).toBeLessThan(10_000);
  });

  test("starts again with an empty postmaster.pid, as after a kill during its start", async () => {
    const path = newPath("data");
    const home = await withPostgres(path, async (postgres) => postgres.home);
    writeFileSync(join(home, "cluster", "postmaster.pid"), "");
    await withPostgres(path, async ({ url }) => expect(await query(url, "SELECT 1")).toEqual([1]));
  });

  test("restarts under the same address when it dies", async () => {
    const back = Promise.withResolvers<void>();
    await withPostgres(
      newPath("data"),
      async ({ url, home }) => {
        process.kill(postmaster(home), "SIGKILL");
        await back.promise;
        expect(await query(url, "SELECT 1")).toEqual([1]);
      },
      (event) => {
        if (event === "embedded_postgres_restarted") back.resolve();
      },
    );
  });

  test("refuses a data directory whose database password is missing", async () => {
    const path = newPath("data");
    await withPostgres(path, async () => {});
    rmSync(join(path, "secrets", "postgresql-password"));
    await expect(withPostgres(path, async () => {})).rejects.toThrow("was made with a password that is gone");
  });
});
