import { GOVERNED_ROUTES, OPEN_ROUTES } from "./routes.ts";
import { type DocumentedRoute, runtimeDocument } from "./surfaces/openapi/runtime-document.ts";
import { DESCRIBED_ROUTES, HEALTH } from "./surfaces/openapi/runtime-routes.ts";

/** Every route of the runtime plane with its documentation; throws if a route has none. */
export function documentedRoutes(): DocumentedRoute[] {
  const governed = GOVERNED_ROUTES.map(({ method, path: pattern, admits = "group", described: own }): DocumentedRoute => {
    // The document contains parameter names but not their patterns.
    const path = pattern.replaceAll(/:\w+\{([\w:]+)\}/g, "$1").replaceAll(/\{[^:}]*(:\w+)?\}/g, "$1");
    const described = own ?? DESCRIBED_ROUTES[`${method} ${path}`];
    if (described === undefined) throw new Error(`${method} ${path} is not described`);
    return { method, path, admits, described };
  });
  // The gateway's own servers share the address pattern of all tool servers, so keep one route for each.
  const named = new Map(governed.map((route) => [`${route.method} ${route.path}`, route]));
  return [...named.values(), ...OPEN_ROUTES.map((path): DocumentedRoute => ({ method: "GET", path, admits: null, described: HEALTH }))];
}

let written: string | null = null;

/** The OpenAPI document as JSON, generated on first use. */
export function runtimeDocumentText(): string {
  return (written ??= JSON.stringify(runtimeDocument(documentedRoutes())));
}
