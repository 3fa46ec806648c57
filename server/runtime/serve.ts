import { setTimeout as delay } from "node:timers/promises";
import { endOfWaiting } from "../kernel/scheduling/waiting-answers.ts";

export interface Peer {
  /** Address of the other end of the connection; empty when it is gone already. */
  readonly ip: string;
}

export interface ServeOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  /**
   * Whether other processes listen on the port too: the kernel hands each connection to one of them. The `first` makes
   * sure that nobody else is there.
   */
  readonly sharing?: "own" | "first" | "joined";
  /** For connections that send nothing, between requests and while a request's head is awaited; 120 when left out. */
  readonly idleSeconds?: number;
  /** `request.signal` aborts and a streamed body is cancelled when the client goes away. */
  fetch(request: Request, peer: Peer): Response | Promise<Response>;
  onError(error: Error): Response | Promise<Response>;
}

export interface Serving {
  readonly port: number;
  readonly url: string;
  /** Takes no new connections, lets answers in flight finish for at most that long, then closes what is left. */
  stop(options: { graceSeconds: number }): Promise<void>;
}

/** A reason not to start, in one line. */
export class ListenError extends Error {}

const IDLE_SECONDS = 120;
const POLL_MS = 10;

export function serve({ sharing = "own", ...given }: ServeOptions): Serving {
  let options: Omit<ServeOptions, "sharing"> = given;
  if (sharing === "first") {
    // Of ports that are shared the kernel refuses none to a process of the same user.
    const alone = listen(options, false);
    options = { ...options, port: alone.port ?? options.port };
    void alone.stop(true);
  }
  const server = listen(options, sharing !== "own");
  const port = server.port ?? options.port;
  return {
    port,
    url: portUrl(options.hostname, port),
    async stop({ graceSeconds }) {
      // Its promise waits for idle connections as well; only the requests are waited for here.
      void server.stop(false);
      const deadline = Date.now() + graceSeconds * 1000;
      while (server.pendingRequests > 0 && Date.now() < deadline) await delay(POLL_MS);
      await server.stop(true);
    },
  };
}

export const portUrl = (host: string, port: number): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

function listen(options: Omit<ServeOptions, "sharing">, reusePort: boolean): Bun.Server<undefined> {
  const { idleSeconds = IDLE_SECONDS } = options;
  try {
    return Bun.serve({
      hostname: options.hostname,
      port: options.port,
      reusePort,
      development: false,
      idleTimeout: idleSeconds,
      // The application bounds bodies itself: a request the server refused would leave no audit row.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      async fetch(request, self) {
        // An upstream may think for longer than any idle time; how long is the application's decision.
        self.timeout(request, 0);
        // HTTP/1.0 asks for no Host, and health checks of balancers send none: the address of such a request is its path alone.
        const addressed = request.url.startsWith("/") ? new Request(`${self.url.origin}${request.url}`, request) : request;
        const response = await options.fetch(addressed, { ip: self.requestIP(request)?.address ?? "" });
        // A client that stops reading, or reuses nothing, is let go again once it is the only one that is waited for.
        const idle = () => self.timeout(request, idleSeconds);
        const end = endOfWaiting(response);
        if (end === undefined) idle();
        else void end.then(idle);
        return response;
      },
      error: (error) => options.onError(error),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // For a name that is not found the code is whatever failed last, so none is asked for.
    const why =
      code === "EADDRINUSE"
        ? "is in use by another process: stop that one, or give this one another GW_RUNTIME_PORT or GW_ADMIN_PORT"
        : code === "EACCES"
          ? "may not be used by this user"
          : `cannot be listened on: is GW_HOST an address of this machine? (${message})`;
    throw new ListenError(`${options.hostname}:${options.port} ${why}`);
  }
}
