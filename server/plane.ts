import type { Configuration } from "./kernel/configuration/configuration.ts";
import type { ErrorCode } from "./kernel/errors.ts";
import type { Log } from "./kernel/log.ts";
import { callerAddress } from "./kernel/http/caller-address.ts";
import { plainError } from "./runtime-plane.ts";
import { portUrl, serve, type Serving } from "./runtime/serve.ts";

/** Two Host headers arrive as one with a comma, and the proxies in front may have used the other one. */
const ONE_HOST = /^(?:[\w.~%!$&'()*+;=-]+|\[[\da-f:.%]+\])(?::\d{0,5})?$/i;

/** Almost all requests have the same. */
let lastValid: string | null = null;

/** Whether no URL of the request could be parsed with this host, or it may be several. */
function isBadHost(named: string | null): boolean {
  if (named === lastValid) return false;
  if (named !== null && !(ONE_HOST.test(named) && URL.canParse(`http://${named}/`))) return true;
  lastValid = named;
  return false;
}

/** `ip` is the caller's address: the peer's, or the forwarded one if the peer is a trusted proxy. */
type Answer = (request: Request, info: { ip: string }) => Response | Promise<Response>;

/** An open port, whatever answers on it. */
export interface Plane extends Serving {
  /**
   * Sets the handler; until then every request is answered that the gateway is starting. A process that joins others on their port opens it
   * only now: earlier, the kernel would send it connections that the others could serve.
   */
  answer(handler: Answer): void;
}

/** `refused` is called for each request that arrives before there is a handler or that is rejected here. Throws `ListenError`. */
export function openPlane(
  { host, trustedProxies }: Configuration,
  { port, sharing = "own" }: { readonly port: number; readonly sharing?: "own" | "first" | "joined" },
  log: Log,
  refused: (reason: ErrorCode) => void,
): Plane {
  let handler: Answer = () => {
    refused("starting");
    return plainError("starting", { "retry-after": "1" });
  };
  const open = () =>
    serve({
      hostname: host,
      port,
      sharing,
      fetch(request, peer) {
        if (isBadHost(request.headers.get("host"))) {
          refused("invalid_header");
          return plainError("invalid_header", { connection: "close" }, " Host has to name one host, once.");
        }
        return handler(request, { ip: callerAddress(peer.ip, request.headers, trustedProxies) });
      },
      onError(error) {
        log.error("request_failed", { error });
        return plainError("internal_error");
      },
    });
  let serving = sharing === "joined" ? null : open();
  return {
    port: serving?.port ?? port,
    url: serving?.url ?? portUrl(host, port),
    answer(next) {
      handler = next;
      serving ??= open();
    },
    stop: async (options) => serving?.stop(options),
  };
}
