/** The cookie that keeps somebody signed in to a page of ours. */

/** Said by our own pages: a page of another origin may not send it, because no preflight allows it. */
const OWN_PAGE = "x-gw-session";

interface SessionCookie {
  readonly name: string;
  /** Of the one address that renews it. */
  readonly path: string;
}

/** `publicUrl`: of the plane, as it was configured; null where it was not. */
interface Asked {
  readonly request: { readonly url: string; readonly headers: Pick<Headers, "get"> };
  readonly publicUrl: string | null;
}

const hostOf = (headers: Pick<Headers, "get">) => headers.get("x-forwarded-host") ?? headers.get("host");

/** Whether the browser asked by https, which a proxy in front may have ended without saying so. */
function isHttps({ request: { url, headers }, publicUrl }: Asked): boolean {
  if (url.startsWith("https:") || headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https") return true;
  return publicUrl?.startsWith("https:") === true && new URL(publicUrl).host === hostOf(headers);
}

/**
 * By https it has a name that browsers take from this very host alone: a neighbour under the same domain, or a page without https, could
 * sign somebody in as another otherwise. Such a name is for all paths; without https it is sent to the one address that renews it.
 */
const namedFor = ({ name, path }: SessionCookie, asked: Asked) =>
  isHttps(asked)
    ? { name: `__Host-${name}`, attributes: "Path=/; HttpOnly; SameSite=Strict; Secure" }
    : { name, attributes: `Path=${path}; HttpOnly; SameSite=Strict` };

/** Until the browser is closed, or the session ends. */
export function sessionCookieSet(cookie: SessionCookie, value: string, asked: Asked): string {
  const { name, attributes } = namedFor(cookie, asked);
  return `${name}=${value}; ${attributes}`;
}

export function sessionCookieCleared(cookie: SessionCookie, asked: Asked): string {
  const { name, attributes } = namedFor(cookie, asked);
  return `${name}=; Max-Age=0; ${attributes}`;
}

export function sessionCookieOf(cookie: SessionCookie, asked: Asked): string | null {
  const { name } = namedFor(cookie, asked);
  for (const part of (asked.request.headers.get("cookie") ?? "").split(";")) {
    const [key = "", value = ""] = part.trim().split("=");
    if (key === name && /^[\w.-]{1,200}$/.test(value)) return value;
  }
  return null;
}

/** Whether the request was made by a page of this origin: the cookie alone is no proof of that. */
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
