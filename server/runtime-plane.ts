import { Hono } from "hono";
import type { GovernedRoute } from "./road/road-parts.ts";
import { allowOf } from "./wire/http/allow.ts";
import { nearestRoute, nearestText } from "./wire/http/nearest-route.ts";
import type { AllowedOrigins } from "./kernel/configuration/allowed-origins.ts";
import { preflight, withCorsHeaders } from "./wire/http/cross-origin.ts";
import { BoundedMap } from "./directory/bounded-map.ts";
import type { Road } from "./road/road.ts";
import { ERRORS, type ErrorCode } from "./kernel/errors.ts";
import { ulid } from "./kernel/ids.ts";
import { pathOf } from "./kernel/http/request-path.ts";
import { GOVERNED_ROUTES, OPEN_ROUTES, type Services } from "./routes.ts";
import { FilesInMessages } from "./services/files/in-messages.ts";
import { withFiles } from "./surfaces/files/with-files.ts";

export interface Health {
  /** Null when ready, else what is missing. With `calls`, only what calls need: they continue while the database is unreachable. */
  readonly notReady: (calls: boolean) => Promise<string | null>;
}

interface Env {
  Bindings: { ip: string };
}

/** Bounds the route cache: callers use a few paths repeatedly, but a path may contain an ID. */
const REMEMBERED_WAYS = 4_096;
const MAX_PATH_LENGTH = 256;

const DOCUMENT = "/openapi.json";
const CONTROL_PLANES = /^\/v1\/admin(?:\/|-users\/|$)/;

/**
 * The runtime plane as one fetch function, without a socket, so that tests call it as the server does. `unserved` is called for each
 * request to an unknown path or with a wrong method: it is no call and leaves no row.
 */
export function runtimePlane(
  road: Road,
  services: Services,
  health: Health,
  origins: AllowedOrigins,
  unserved: (reason: ErrorCode) => void,
): (request: Request, info: { ip: string }) => Response | Promise<Response> {
  const app = new Hono<Env>();
  // Cache of router results, so that calls in steady state skip the router.
  const ways = new BoundedMap<string, GovernedRoute>(REMEMBERED_WAYS);
  const wayOf = (request: Request) => `${request.method} ${pathOf(request.url)}`;
  // Registered first, because the pattern of a governed route may match these paths.
  const [alive, ready, ...subsystems] = OPEN_ROUTES;
  app.get(alive, (c) => c.json({ status: "ok" }));
  for (const path of subsystems) app.get(path, (c) => c.json({ status: "ok" }));
  app.get(DOCUMENT, async (c) =>
    c.body((await import("./runtime-document.ts")).runtimeDocumentText(), 200, {
      "content-type": "application/json",
      "cache-control": "no-cache",
    }),
  );
  app.get(ready, (c) => readiness(health, c.req.raw.url).then(({ status, body }) => c.json(body, status)));
  const inMessages = new FilesInMessages(services.files, services.room);
  for (const { surface, accept, ...rest } of GOVERNED_ROUTES) {
    const route = { ...rest, surface: withFiles(inMessages, typeof surface === "function" ? surface(services) : surface) };
    const accepts = accept?.(services);
    app.on(rest.method, rest.path, (c) => {
      if (accepts !== undefined && c.req.raw.method === rest.method) return accepts(route, c.req.raw, c.env.ip);
      const way = wayOf(c.req.raw);
      // A HEAD request is served by its GET route without the body, and is not cached; nor are long paths, which are unlikely to recur.
      if (c.req.raw.method === rest.method && way.length <= MAX_PATH_LENGTH) ways.set(way, route);
      const answered = road.handle(route, c.req.raw, c.env.ip);
      return c.req.raw.method === "HEAD" ? headOf(answered) : answered;
    });
  }

  const served = [...GOVERNED_ROUTES, ...[...OPEN_ROUTES, DOCUMENT].map((path) => ({ method: "GET", path }))];
  for (const [path, allow] of allowOf(served))
    app.all(path, () => {
      unserved("method_not_allowed");
      return plainError("method_not_allowed", { allow }, ` It answers ${allow}.`);
    });
  app.notFound((c) => {
    unserved("not_found");
    const path = pathOf(c.req.raw.url);
    return plainError(
      "not_found",
      {},
      CONTROL_PLANES.test(path)
        ? " The admin API stands on the control plane's address."
        : nearestText(nearestRoute({ method: c.req.method, path }, served)),
    );
  });
  const answer = (request: Request, info: { ip: string }) => {
    const route = ways.get(wayOf(request));
    return route === undefined ? app.fetch(request, info) : road.handle(route, request, info.ip);
  };
  const opened = origins.calls.size + origins.toolServers.size > 0;
  return (request, info) => {
    // Almost no call has an Origin header: only those from web pages do.
    if (!request.headers.has("origin") && !opened) return answer(request, info);
    const answered = preflight(request, origins) ?? answer(request, info);
    // Browsers ask for no permission to open a WebSocket, which carries its own credential.
    if (request.headers.has("upgrade")) return answered;
    return answered instanceof Promise
      ? answered.then((response) => withCorsHeaders(request, response, origins))
      : withCorsHeaders(request, answered, origins);
  };
}

/** Cancels the body: a stream that waits for a reader would never end, nor its call be sealed. */
async function headOf(answered: Response | Promise<Response>): Promise<Response> {
  const response = await answered;
  await response.body?.cancel();
  return response;
}

/** With `?for=calls`, a load balancer does not remove processes because of a database outage that affects all of them. */
export async function readiness(health: Health, url: string): Promise<{ status: 200 | 503; body: { status: string; detail?: string } }> {
  const missing = await health.notReady(new URL(url).searchParams.get("for") === "calls");
  return missing === null ? { status: 200, body: { status: "ready" } } : { status: 503, body: { status: "not_ready", detail: missing } };
}

/** An error outside every surface, so in no protocol's format. */
export function plainError(code: ErrorCode, headers: Record<string, string> = {}, more = ""): Response {
  const { status, message } = ERRORS[code];
  return Response.json({ error: message + more, code }, { status, headers: { "x-request-id": ulid(), ...headers } });
}
