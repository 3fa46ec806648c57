import type { Socket } from "node:net";
import pg from "pg";
import type { Log } from "../../kernel/log.ts";

const CHECK_INTERVAL_MS = 2_000;
/** On a busy machine the server may be slow to start on a statement. */
const CHECKS_BEFORE_PROBE = 2;
/** How long a statement is left alone after the server confirmed that it is running. */
const TRUSTED_FOR_MS = 15_000;
const ANSWER_WITHIN_MS = 5_000;

/** Members of the driver's client that its types do not declare. */
interface Inner {
  readonly connection: { readonly stream: Socket };
  readonly ["_getActiveQuery"]: () => object | null;
}

interface Watched {
  /** The server's own process ID. A pooler in between would report a made-up one. */
  readonly pid: number;
  used: boolean;
  /** The state at the last check: the active statement, bytes received, and bytes not yet sent. */
  asked: object | null;
  heard: number;
  unsent: number;
  /** Consecutive checks since then that found the same state. */
  silentLooks: number;
  believedUntil: number;
}

export const streamOf = (client: pg.ClientBase): Socket => (client as unknown as Inner).connection.stream;

/**
 * Closes connections whose peer vanished silently, as when a machine loses power or network and another server takes over its address.
 * Otherwise statements wait on them for a quarter of an hour, and with them the ledger, the workers and news of revoked keys. Whether a
 * statement merely takes long is asked of the server over a separate connection.
 */
export class SilentConnections {
  private readonly watched = new Map<pg.ClientBase, Watched>();
  private readonly config: pg.ClientConfig;
  private readonly log: Log;
  private readonly timer: ReturnType<typeof setInterval>;
  private checking = false;

  constructor(pool: pg.Pool, config: pg.ClientConfig, log: Log) {
    this.config = config;
    this.log = log;
    pool.on("acquire", (client) => this.use(client, true));
    pool.on("release", (_error, client) => this.use(client, false));
    pool.on("remove", (client) => this.watched.delete(client));
    this.timer = setInterval(() => void this.check(), CHECK_INTERVAL_MS);
    this.timer.unref();
  }

  /** Await this before using the connection. */
  async watch(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query<{ pid: number }>({
      text: "SELECT pg_backend_pid() AS pid",
      query_timeout: ANSWER_WITHIN_MS,
    } as pg.QueryConfig);
    this.watched.set(client, { pid: rows[0]?.pid ?? 0, used: true, asked: null, heard: 0, unsent: 0, silentLooks: 0, believedUntil: 0 });
  }

  private use(client: pg.ClientBase, used: boolean): void {
    const one = this.watched.get(client);
    if (one !== undefined) one.used = used;
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private async check(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    try {
      const now = performance.now();
      const silent = [...this.watched].filter(([client, one]) => hasBeenSilent(client, one) && one.believedUntil <= now);
      if (silent.length === 0) return;
      const states = await this.statesOfAll();
      let broken = 0;
      for (const [client, one] of silent) {
        const state = states.get(one.pid);
        // A server that does not track activity still lists the process.
        if (state === "active" || state === "disabled") one.believedUntil = now + TRUSTED_FOR_MS;
        else if (isSilent(client, one)) broken += this.break(client);
      }
      // Idle connections took the same path; reopening them all is faster than finding out one by one.
      if (broken > 0) for (const [client, one] of this.watched) if (!one.used) this.break(client);
    } catch {
      // Nobody answers: the database is down, and its open connections may be all that is left of it.
    } finally {
      this.checking = false;
    }
  }

  private break(client: pg.ClientBase): 1 {
    this.watched.delete(client);
    this.log.warn("database_connection_silent");
    streamOf(client).destroy(Object.assign(new Error("the database has fallen silent"), { code: "ETIMEDOUT" }));
    return 1;
  }

  private async statesOfAll(): Promise<Map<number, string>> {
    const client = new pg.Client({ ...this.config, query_timeout: ANSWER_WITHIN_MS });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number; state: string }>(
        "SELECT pid, coalesce(state, 'disabled') AS state FROM pg_stat_activity WHERE pid = ANY($1) AND usename = current_user",
        [[...this.watched.values()].map(({ pid }) => pid)],
      );
      return new Map(rows.map(({ pid, state }) => [pid, state]));
    } finally {
      void client.end().catch(() => undefined);
    }
  }
}

function hasBeenSilent(client: pg.ClientBase, one: Watched): boolean {
  one.silentLooks = isSilent(client, one) ? one.silentLooks + 1 : 0;
  return one.silentLooks >= CHECKS_BEFORE_PROBE;
}

/** Whether the client waits for the same statement as at the last check, and no bytes have moved since. */
function isSilent(client: pg.ClientBase, one: Watched): boolean {
  const activeQuery = (client as unknown as Inner)["_getActiveQuery"]();
  const { bytesRead: heard, writableLength: unsent } = streamOf(client);
  const isAsBefore = activeQuery !== null && activeQuery === one.asked && heard === one.heard && unsent === one.unsent;
  Object.assign(one, { asked: activeQuery, heard, unsent });
  return isAsBefore;
}
