/** The cookie that keeps somebody signed in to a page of ours. Sent to the one address that renews it, and to no other. */

/** Said by our own pages: a page of another origin may not send it, because no preflight allows it. */
const OWN_PAGE = "x-gw-session";

interface SessionCookie {
  readonly name: string;
  readonly path: string;
}

function attributes({ path }: SessionCookie, request: { readonly url: string; readonly headers: Pick<Headers, "get"> }): string {
  const isHttps = request.url.startsWith("https:") || request.headers.get("x-forwarded-proto")?.split(",")[0]?.trim() === "https";
  return `Path=${path}; HttpOnly; SameSite=Strict${isHttps ? "; Secure" : ""}`;
}

/** Until the browser is closed, or the session ends. */
export function sessionCookieSet(
  cookie: SessionCookie,
  value: string,
  request: { readonly url: string; readonly headers: Pick<Headers, "get"> },
): string {
  return `${cookie.name}=${value}; ${attributes(cookie, request)}`;
}

export function sessionCookieCleared(
  cookie: SessionCookie,
  request: { readonly url: string; readonly headers: Pick<Headers, "get"> },
): string {
  return `${cookie.name}=; Max-Age=0; ${attributes(cookie, request)}`;
}

export function sessionCookieOf({ name }: SessionCookie, headers: Pick<Headers, "get">): string | null {
  for (const part of (headers.get("cookie") ?? "").split(";")) {
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
    return new URL(origin).host === (headers.get("x-forwarded-host") ?? headers.get("host"));
  } catch {
    return false;
  }
}
