import type { Socket } from "node:net";
import pg from "pg";
import type { Log } from "../../kernel/log.ts";

const LOOK_EVERY_MS = 2_000;
/** A busy machine may let a server wait for its turn while the statement lies before it. */
const LOOKS_BEFORE_ASKING = 2;
/** How long a statement is left alone that the server said it is at. */
const BELIEVED_FOR_MS = 15_000;
const ANSWER_WITHIN_MS = 5_000;

/** What the driver has and its types do not tell. */
interface Inner {
  readonly connection: { readonly stream: Socket };
  readonly ["_getActiveQuery"]: () => object | null;
}

interface Watched {
  /** Of the server's process, as the server knows it: what a pooler in between says of it is made up. */
  readonly pid: number;
  used: boolean;
  /** What was waited for when it was last looked at, the bytes that had come by then, and those that had not left. */
  asked: object | null;
  heard: number;
  unsent: number;
  /** Looks since then that found nothing else. */
  silentLooks: number;
  believedUntil: number;
}

export const streamOf = (client: pg.ClientBase): Socket => (client as unknown as Inner).connection.stream;

/**
 * Breaks connections whose other end is gone without a word: a machine that lost its power or its network, behind whose address another
 * server stands by now. Statements wait on them for a quarter of an hour otherwise, and with them the ledger, the workers, and news of
 * revoked keys. A statement that merely takes long is known by the server, which is asked on a connection of its own.
 */
export class SilentConnections {
  private readonly watched = new Map<pg.ClientBase, Watched>();
  private readonly config: pg.ClientConfig;
  private readonly log: Log;
  private readonly timer: ReturnType<typeof setInterval>;
  private looking = false;

  constructor(pool: pg.Pool, config: pg.ClientConfig, log: Log) {
    this.config = config;
    this.log = log;
    pool.on("acquire", (client) => this.use(client, true));
    pool.on("release", (_error, client) => this.use(client, false));
    pool.on("remove", (client) => this.watched.delete(client));
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  /** To be awaited before the connection is used. */
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

  private async look(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    try {
      const now = performance.now();
      const silent = [...this.watched].filter(([client, one]) => hasBeenSilent(client, one) && one.believedUntil <= now);
      if (silent.length === 0) return;
      const states = await this.statesOfAll();
      let broken = 0;
      for (const [client, one] of silent) {
        const state = states.get(one.pid);
        // Where the server tells no states, it has the process all the same.
        if (state === "active" || state === "disabled") one.believedUntil = now + BELIEVED_FOR_MS;
        else if (isSilent(client, one)) broken += this.break(client);
      }
      // Those that nobody uses came the same way, and are made anew more quickly than found out one by one.
      if (broken > 0) for (const [client, one] of this.watched) if (!one.used) this.break(client);
    } catch {
      // Nobody answers there: the database is away, and its connections may be all that is left of it.
    } finally {
      this.looking = false;
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
  return one.silentLooks >= LOOKS_BEFORE_ASKING;
}

/** Whether it waits for the same statement as when it was looked at last, and nothing has come or gone since. */
function isSilent(client: pg.ClientBase, one: Watched): boolean {
  const asked = (client as unknown as Inner)["_getActiveQuery"]();
  const { bytesRead: heard, writableLength: unsent } = streamOf(client);
  const isAsBefore = asked !== null && asked === one.asked && heard === one.heard && unsent === one.unsent;
  Object.assign(one, { asked, heard, unsent });
  return isAsBefore;
}
