import { readFileSync } from "node:fs";
import { operation, type AdminOperation } from "./operation.ts";

const common = { tag: "This page", access: "anyone", reach: "none", method: "GET" } as const;

const STYLED =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'";

function staticPage(path: string, file: string, media: string, summary: string): AdminOperation {
  const text = readFileSync(new URL(`./docs/${file}`, import.meta.url), "utf8");
  return operation({
    ...common,
    path,
    summary,
    answer: { status: 200, about: summary, media },
    run: async () =>
      new Response(text, {
        headers: {
          "content-type": `${media}; charset=utf-8`,
          "content-security-policy": STYLED,
          "x-content-type-options": "nosniff",
          "cache-control": "no-cache",
        },
      }),
  });
}

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
    summary: "To the browsable page",
    answer: { status: 302, about: "To /docs" },
    run: async () => new Response(null, { status: 302, headers: { location: "/docs" } }),
  }),
  staticPage("/docs", "index.html", "text/html", "This document, to be browsed"),
  staticPage("/docs/page.js", "page.js", "text/javascript", "What makes it so"),
  staticPage("/docs/schemas.js", "schemas.js", "text/javascript", "What it knows of schemas"),
  staticPage("/docs/page.css", "page.css", "text/css", "How it looks"),
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
