import { readFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { pathOf } from "../../kernel/http/request-path.ts";
import { PAGE_POLICY } from "./content-security.ts";
import { sandboxPage } from "./sandbox-page.ts";

export type PageApp = "portal" | "console";

type Handler<Info> = (request: Request, info: Info) => Response | Promise<Response>;

const DIST = fileURLToPath(new URL("../../../web/dist/", import.meta.url));

const MEDIA: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  webp: "image/webp",
  woff2: "font/woff2",
};

const COMMON = {
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
} as const;

const NOT_BUILT = "The pages are not built on this machine. npm start builds them; so does node web/kit/build/build-pages.mjs.\n";

interface PageFacts {
  readonly toolAppDomains?: readonly string[];
  readonly dist?: string;
  /** Where calls are served, for the console's code samples; null if this process does not know. */
  readonly callsAt?: string | null;
}

/**
 * Serves an app under `/<app>/`, in front of the plane's other routes; `/` redirects to it. Files with a hash in their name are cached
 * forever, the page itself never. A path of the app that is not a file is one of its views and gets the page.
 */
export function withAppPages<Info>(
  app: PageApp,
  handler: Handler<Info>,
  { toolAppDomains = [], dist = DIST, callsAt = null }: PageFacts = {},
): Handler<Info> {
  const home = `/${app}/`;
  const own = withPagesAt(home, join(dist, app), handler);
  return (request, info) => {
    const path = pathOf(request.url);
    if (path === "/" && (request.headers.get("accept") ?? "").includes("text/html") && reads(request))
      return new Response(null, { status: 302, headers: { location: home, vary: "accept" } });
    if (app === "portal" && path === `${home}sandbox` && reads(request)) return sandboxPage(request.url, toolAppDomains);
    if (app === "console" && path === `${home}planes.json` && reads(request))
      return Response.json({ runtime: callsAt }, { headers: { ...COMMON, "cache-control": "no-store" } });
    return own(request, info);
  };
}

/** Serves the plane's API reference under `/docs/`, which reads the plane's `/openapi.json`. */
export function withReference<Info>(handler: Handler<Info>, dist: string = DIST): Handler<Info> {
  return withPagesAt("/docs/", join(dist, "reference"), handler);
}

function withPagesAt<Info>(home: string, folder: string, handler: Handler<Info>): Handler<Info> {
  return (request, info) => {
    const path = pathOf(request.url);
    if (path === home.slice(0, -1)) return new Response(null, { status: 308, headers: { location: home } });
    if (!path.startsWith(home)) return handler(request, info);
    if (!reads(request)) return new Response(null, { status: 405, headers: { ...COMMON, allow: "GET, HEAD" } });
    return answer(folder, path.slice(home.length), request);
  };
}

const reads = ({ method }: Request) => method === "GET" || method === "HEAD";

async function answer(folder: string, name: string, request: Request): Promise<Response> {
  const extension = /\.(\w+)$/.exec(name)?.[1];
  const isFile = name.startsWith("assets/") || (extension !== undefined && extension in MEDIA && extension !== "html");
  const file = isFile ? name : "index.html";
  const found = isInside(file) ? await contentOf(join(folder, file), request) : null;
  if (found === null)
    return isFile
      ? new Response("There is no such file.\n", { status: 404, headers: { ...COMMON, "cache-control": "no-store" } })
      : new Response(NOT_BUILT, { status: 503, headers: { ...COMMON, "cache-control": "no-store" } });
  const keeps = name.startsWith("assets/") ? "public, max-age=31536000, immutable" : isFile ? "no-cache" : "no-store";
  const headers = {
    ...COMMON,
    "cache-control": keeps,
    "content-type": MEDIA[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream",
    vary: "accept-encoding",
    ...(found.packed ? { "content-encoding": "gzip" } : {}),
    "content-length": String(found.bytes.byteLength),
  };
  return new Response(request.method === "HEAD" ? null : found.bytes, { headers });
}

/** Paths are not decoded, so one with an escaped dot or slash finds no file. */
function isInside(file: string): boolean {
  return /^[\w./-]+$/.test(file) && normalize(file) === file && !file.startsWith("..");
}

async function contentOf(path: string, request: Request): Promise<{ bytes: Uint8Array<ArrayBuffer>; packed: boolean } | null> {
  const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:\s*,|\s*$))/.test(request.headers.get("accept-encoding") ?? "");
  const packed = takesGzip ? await bytesOf(`${path}.gz`) : null;
  if (packed !== null) return { bytes: packed, packed: true };
  const bytes = await bytesOf(path);
  return bytes === null ? null : { bytes, packed: false };
}

async function bytesOf(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  return readFile(path).then(
    (bytes) => new Uint8Array(bytes),
    () => null,
  );
}
