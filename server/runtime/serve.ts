import { setTimeout as delay } from "node:timers/promises";
import { endOfWaiting } from "../kernel/scheduling/waiting-answers.ts";
import { lingering } from "./lingering-close.ts";
import { upgradeOf } from "../kernel/http/message-socket.ts";
import { servedSockets, type SocketData } from "./served-sockets.ts";
import { probeSilentCallers } from "./socket-options.ts";

export interface Peer {
  /** Address of the peer; empty if the connection is already closed. */
  readonly ip: string;
}

export interface ServeOptions {
  readonly hostname: string;
  /** 0 picks a free port. */
  readonly port: number;
  /**
   * Whether other processes listen on the port as well: the kernel hands each connection to one of them. The `first` ensures that nobody
   * else uses the port.
   */
  readonly sharing?: "own" | "first" | "joined";
  /** Idle timeout of connections between requests and while a request's headers are awaited; 120 when left out. */
  readonly idleSeconds?: number;
  /** If the client disconnects, `request.signal` aborts and a streamed body is cancelled. */
  fetch(request: Request, peer: Peer): Response | Promise<Response>;
  onError(error: Error): Response | Promise<Response>;
}

export interface Serving {
  readonly port: number;
  readonly url: string;
  /** Accepts no new connections, lets responses in flight finish within `graceSeconds`, then closes the rest. */
  stop(options: { graceSeconds: number }): Promise<void>;
}

/** An expected reason not to start, as one line. */
export class ListenError extends Error {}

const IDLE_SECONDS = 120;
const POLL_MS = 10;

export function serve({ sharing = "own", ...given }: ServeOptions): Serving {
  let options: Omit<ServeOptions, "sharing"> = given;
  if (sharing === "first") {
    // The kernel lets processes of the same user share a port without conflict, so check that it is free first.
    const alone = listen(options, false);
    options = { ...options, port: alone.port ?? options.port };
    void alone.stop(true);
  }
  const server = listen(options, sharing !== "own");
  probeSilentCallers();
  const port = server.port ?? options.port;
  return {
    port,
    url: portUrl(options.hostname, port),
    async stop({ graceSeconds }) {
      // Its promise also waits for idle connections; only requests and WebSockets are waited for here.
      void server.stop(false);
      const deadline = Date.now() + graceSeconds * 1000;
      while (server.pendingRequests + server.pendingWebSockets > 0 && Date.now() < deadline) await delay(POLL_MS);
      await server.stop(true);
    },
  };
}

export const portUrl = (host: string, port: number): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

function listen(options: Omit<ServeOptions, "sharing">, reusePort: boolean): Bun.Server<SocketData> {
  const { idleSeconds = IDLE_SECONDS } = options;
  try {
    return Bun.serve<SocketData>({
      hostname: options.hostname,
      port: options.port,
      reusePort,
      development: false,
      idleTimeout: idleSeconds,
      // The application limits bodies itself: a request refused by the server would leave no audit row.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      async fetch(request, self) {
        // An upstream may take longer than any idle timeout; the application decides how long to wait.
        self.timeout(request, 0);
        // HTTP/1.0 needs no Host header, and load balancers' health checks may omit it: the URL is only a path then.
        const addressed = request.url.startsWith("/") ? new Request(`${self.url.origin}${request.url}`, request) : request;
        const given = await options.fetch(addressed, { ip: self.requestIP(request)?.address ?? "" });
        const upgrade = upgradeOf(given);
        if (upgrade !== undefined) {
          if (self.upgrade(request, { headers: upgrade.headers, data: { upgrade, listener: null } })) return undefined;
          upgrade.failed();
          return new Response(null, { status: 400 });
        }
        const response = lingering(addressed, given);
        // Once only the client is waited for, a client that stops reading or leaves the connection unused is disconnected again.
        const idle = () => self.timeout(request, idleSeconds);
        const end = endOfWaiting(given);
        if (end === undefined) idle();
        else void end.then(idle);
        return response;
      },
      websocket: servedSockets,
      error: (error) => options.onError(error),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // For an unresolvable name the code is unrelated, so the message covers that case.
    const why =
      code === "EADDRINUSE"
        ? "is in use by another process: stop that one, or give this one another GW_RUNTIME_PORT or GW_ADMIN_PORT"
        : code === "EACCES"
          ? "may not be used by this user"
          : `cannot be listened on: is GW_HOST an address of this machine? (${message})`;
    throw new ListenError(`${options.hostname}:${options.port} ${why}`);
  }
}
