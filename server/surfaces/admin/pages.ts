import { operation, type AdminOperation } from "./operation.ts";

const common = { tag: "This document", access: "anyone", reach: "none", method: "GET" } as const;

function healthPage(path: string, media: string, summary: string): AdminOperation {
  return operation({
    ...common,
    tag: "Health",
    path,
    summary,
    answer: { status: 200, about: summary, media },
    run: async (call) => call.services.health[path]?.(call.request) ?? new Response(null, { status: 404 }),
  });
}

export const pageOperations: readonly AdminOperation[] = [
  operation({
    ...common,
    path: "/",
    summary: "To the reference of this API, to be browsed",
    answer: { status: 302, about: "To /docs/" },
    run: async () => new Response(null, { status: 302, headers: { location: "/docs/" } }),
  }),
  operation({
    ...common,
    path: "/openapi.json",
    summary: "The OpenAPI 3.1 document",
    answer: { status: 200, about: "The document", media: "application/json" },
    run: async (call) => Response.json(call.services.document(), { headers: { "cache-control": "no-cache" } }),
  }),
  healthPage("/healthz", "application/json", "Whether the process is alive"),
  healthPage("/readyz", "application/json", "Whether it can serve"),
  healthPage("/metrics", "text/plain", "Prometheus metrics"),
];
