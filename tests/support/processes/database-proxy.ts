import { connect, createServer, type Server, type Socket } from "node:net";

/** A proxy to a PostgreSQL that can be stopped, or cut at the worst moment. */
export interface DatabaseProxy {
  /** URL of the same database through the proxy. */
  readonly url: string;
  /** Refuses new connections and breaks existing ones. */
  stop(): Promise<void>;
  /** Accepts connections and bytes without forwarding anything, until the proxy is stopped. */
  silence(): void;
  /** Stops forwarding on existing connections without closing them, like a machine that lost power. New connections are forwarded. */
  silenceThoseThere(): void;
  /** Number of connections ever accepted. */
  readonly made: number;
  /** Accepts connections again at the same address. */
  start(): Promise<void>;
  /** Announces a shutdown as PostgreSQL does: at once on existing connections, and from now on when a client says goodbye. */
  announceStop(): void;
  /** Forwards to another server from now on, which has the same passwords. */
  leadTo(databaseUrl: string): void;
  /** Breaks the next connections whose COMMIT has reached the server, before the answer arrives. */
  cutAfterCommit(times: number): void;
  /** How often that happened. */
  readonly cuts: number;
  close(): Promise<void>;
}

/** "Q", the length and the text: a client's `COMMIT` message. */
const COMMIT = Buffer.from("Q\0\0\0\x0bCOMMIT\0", "latin1");

/** "X" and the length: a client's goodbye. */
const TERMINATE = Buffer.from("X\0\0\0\x04", "latin1");
const FATAL = "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0";
const STOPPING = Buffer.from(`E\0\0\0${String.fromCharCode(4 + FATAL.length)}${FATAL}`, "latin1");

export async function databaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  let to = new URL(databaseUrl);
  const server = () => {
    const directory = to.searchParams.get("host");
    const port = Number(to.port || 5432);
    return directory?.startsWith("/") ? connect({ path: `${directory}/.s.PGSQL.${port}` }) : connect({ host: to.hostname, port });
  };
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let stopping = false;
  let silent = false;
  let made = 0;
  let quiet = new Set<Socket>();
  let left = 0;
  let cuts = 0;
  let listening: Server | null = null;
  let at = 0;

  function join(client: Socket): void {
    const upstream = server();
    made++;
    let cutting = false;
    clients.add(client);
    client.on("close", () => clients.delete(client));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        if (quiet.has(client)) return upstream.destroy();
        client.destroy();
        // The COMMIT still arrives; only the answer is lost.
        if (cutting) upstream.end();
        else upstream.destroy();
      });
    }
    client.on("data", (piece: Buffer) => {
      if (stopping && piece.equals(TERMINATE)) {
        client.end(STOPPING);
        return;
      }
      if (left > 0 && piece.indexOf(COMMIT) >= 0) {
        left--;
        cuts++;
        cutting = true;
      }
      if (!silent && !quiet.has(client)) upstream.write(piece);
    });
    upstream.on("data", (piece: Buffer) => {
      if (cutting) client.destroy();
      else if (!quiet.has(client)) client.write(piece);
    });
  }

  async function start(): Promise<void> {
    const next = createServer(join);
    await new Promise<void>((resolve, reject) => next.once("error", reject).listen(at, "127.0.0.1", resolve));
    at = (next.address() as { port: number }).port;
    listening = next;
  }

  async function stop(): Promise<void> {
    const last = listening;
    listening = null;
    silent = false;
    const closed = new Promise<void>((resolve) => (last === null ? resolve() : last.close(() => resolve())));
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  await start();
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(at);
  url.searchParams.delete("host");
  return {
    url: url.href,
    start,
    stop,
    leadTo(other) {
      to = new URL(other);
    },
    silence() {
      silent = true;
    },
    silenceThoseThere() {
      quiet = new Set(clients);
    },
    get made() {
      return made;
    },
    announceStop() {
      stopping = true;
      for (const client of clients) client.write(STOPPING);
    },
    cutAfterCommit(times) {
      left = times;
    },
    get cuts() {
      return cuts;
    },
    close: stop,
  };
}
