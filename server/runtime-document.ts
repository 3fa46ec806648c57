import { GOVERNED_ROUTES, OPEN_ROUTES } from "./routes.ts";
import { type DocumentedRoute, runtimeDocument } from "./surfaces/openapi/runtime-document.ts";
import { DESCRIBED_ROUTES, HEALTH } from "./surfaces/openapi/runtime-routes.ts";

/** Every route of the runtime plane with what its document says of it; throws for one that nobody described. */
export function documentedRoutes(): DocumentedRoute[] {
  const governed = GOVERNED_ROUTES.map(({ method, path: pattern, admits = "group", described: own }): DocumentedRoute => {
    // The document knows names of parameters, not what they may hold.
    const path = pattern.replaceAll(/:\w+\{([\w:]+)\}/g, "$1").replaceAll(/\{[^:}]*(:\w+)?\}/g, "$1");
    const described = own ?? DESCRIBED_ROUTES[`${method} ${path}`];
    if (described === undefined) throw new Error(`${method} ${path} is not described`);
    return { method, path, admits, described };
  });
  // A server of the gateway's own stands at the address that all tool servers have.
  const named = new Map(governed.map((route) => [`${route.method} ${route.path}`, route]));
  return [...named.values(), ...OPEN_ROUTES.map((path): DocumentedRoute => ({ method: "GET", path, admits: null, described: HEALTH }))];
}

let written: string | null = null;

/** The document as JSON, made when it is first asked for. */
export function runtimeDocumentText(): string {
  return (written ??= JSON.stringify(runtimeDocument(documentedRoutes())));
}
