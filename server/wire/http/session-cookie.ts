/** The session cookies of the gateway's own pages. */

/** Set by the gateway's own pages; pages of other origins cannot send it, because no preflight allows it. */
const OWN_PAGE = "x-gw-session";

interface SessionCookie {
  readonly name: string;
  /** The only path that renews the session. */
  readonly path: string;
}

/** `publicUrl` is the configured public URL of the plane; null if not configured. */
interface CookieRequest {
  readonly request: { readonly url: string; readonly headers: Pick<Headers, "get"> };
  readonly publicUrl: string | null;
}

const hostOf = (headers: Pick<Headers, "get">) => headers.get("x-forwarded-host") ?? headers.get("host");

/** Whether the browser used https, which a proxy may have terminated without reporting it. */
function isHttps({ request: { url, headers }, publicUrl }: CookieRequest): boolean {
  if (url.startsWith("https:") || headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https") return true;
  return publicUrl?.startsWith("https:") === true && new URL(publicUrl).host === hostOf(headers);
}

/**
 * On https the `__Host-` prefix binds the cookie to this exact host: otherwise a sibling subdomain, or a page without
 * https, could sign a person in to another account. The prefix requires `Path=/`; without https the cookie is sent only to
 * the path that renews it.
 */
const namedFor = ({ name, path }: SessionCookie, request: CookieRequest) =>
  isHttps(request)
    ? { name: `__Host-${name}`, attributes: "Path=/; HttpOnly; SameSite=Strict; Secure" }
    : { name, attributes: `Path=${path}; HttpOnly; SameSite=Strict` };

/** A session cookie, without an expiry of its own. */
export function sessionCookieSet(cookie: SessionCookie, value: string, request: CookieRequest): string {
  const { name, attributes } = namedFor(cookie, request);
  return `${name}=${value}; ${attributes}`;
}

export function sessionCookieCleared(cookie: SessionCookie, request: CookieRequest): string {
  const { name, attributes } = namedFor(cookie, request);
  return `${name}=; Max-Age=0; ${attributes}`;
}

export function sessionCookieOf(cookie: SessionCookie, request: CookieRequest): string | null {
  const { name } = namedFor(cookie, request);
  for (const part of (request.request.headers.get("cookie") ?? "").split(";")) {
    const [key = "", value = ""] = part.trim().split("=");
    if (key === name && /^[\w.-]{1,200}$/.test(value)) return value;
  }
  return null;
}

/** Whether the request was made by a page of this origin, which the cookie alone does not prove. */
export function comesFromOwnPage(headers: Pick<Headers, "get">): boolean {
  const site = headers.get("sec-fetch-site");
  if (headers.get(OWN_PAGE) !== "page" || (site !== null && site !== "same-origin")) return false;
  const origin = headers.get("origin");
  if (origin === null) return true;
  try {
    return new URL(origin).host === hostOf(headers);
  } catch {
    return false;
  }
}
