import { Hono } from "hono";
import { preflight, readable } from "./wire/cross-origin.ts";
import type { Road } from "./governance/road.ts";
import { ERRORS, type ErrorCode } from "./kernel/errors.ts";
import { GOVERNED_ROUTES, OPEN_ROUTES, type Services } from "./routes.ts";

export interface Health {
  /** Null when ready, else what is missing. */
  readonly notReady: () => Promise<string | null>;
}

interface Env {
  Bindings: { ip: string };
}

/** The runtime plane as one fetch function: no socket, so tests call it as the server does. */
export function runtimePlane(road: Road, services: Services, health: Health, origins: ReadonlySet<string>): (request: Request, info: { ip: string }) => Response | Promise<Response> {
  const app = new Hono<Env>();
  // First, because the path of a governed route may hold any name where these have theirs.
  const [alive, ready, ...subsystems] = OPEN_ROUTES;
  app.get(alive, (c) => c.json({ status: "ok" }));
  for (const path of subsystems) app.get(path, (c) => c.json({ status: "ok" }));
  app.get(ready, (c) => readiness(health).then(({ status, body }) => c.json(body, status)));
  for (const { surface, ...rest } of GOVERNED_ROUTES) {
    const route = { ...rest, surface: typeof surface === "function" ? surface(services) : surface };
    app.on(rest.method, rest.path, (c) => road.travel(route, c.req.raw, c.env.ip));
  }

  const known = new Set<string>([...GOVERNED_ROUTES.map(({ path }) => path), ...OPEN_ROUTES]);
  for (const path of known) app.all(path, () => plainError("method_not_allowed"));
  app.notFound(() => plainError("not_found"));
  return (request, info) => {
    // A call without an Origin comes from no page, which is nearly every one.
    if (!request.headers.has("origin")) return app.fetch(request, info);
    const answered = preflight(request, origins) ?? app.fetch(request, info);
    return answered instanceof Promise ? answered.then((response) => readable(request, response, origins)) : readable(request, answered, origins);
  };
}

export async function readiness(health: Health): Promise<{ status: 200 | 503; body: { status: string; detail?: string } }> {
  const missing = await health.notReady();
  return missing === null ? { status: 200, body: { status: "ready" } } : { status: 503, body: { status: "not_ready", detail: missing } };
}

/** An error outside every surface: no route knows whose shape it should have. */
export function plainError(code: ErrorCode, headers: Record<string, string> = {}): Response {
  const { status, message } = ERRORS[code];
  return Response.json({ error: message, code }, { status, headers });
}
