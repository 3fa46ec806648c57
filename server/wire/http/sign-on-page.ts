import { escaped, page, PAGE_HEADERS } from "./html-page.ts";

/** The cookie that binds a sign-in to a browser while it is at an identity provider, and the pages on which a sign-in ends. */

const NAME = "gw_sso";
const SECONDS = 600;

/** On https the name has the `__Host-` prefix, so that no other host can set it. */
const nameAt = (base: string) => (base.startsWith("https:") ? `__Host-${NAME}` : NAME);

/**
 * An OpenID Connect answer comes by a link, with which SameSite=Lax cookies are sent; a SAML answer is a cross-site form
 * post, with which only SameSite=None cookies are.
 */
export function bindingCookie(base: string, kind: "oidc" | "saml", value: string): string {
  const secure = base.startsWith("https:") || kind === "saml" ? "; Secure" : "";
  return `${nameAt(base)}=${value}; Path=/; HttpOnly; Max-Age=${SECONDS}; SameSite=${kind === "saml" ? "None" : "Lax"}${secure}`;
}

export function bindingOf(base: string, cookies: string | null): string | null {
  for (const part of (cookies ?? "").split(";")) {
    const at = part.indexOf("=");
    if (at > 0 && part.slice(0, at).trim() === nameAt(base)) return part.slice(at + 1).trim() || null;
  }
  return null;
}

/**
 * Forwards to one of the gateway's pages. An HTML page instead of a redirect, because SameSite=Strict cookies are not sent
 * in a redirect chain started elsewhere. The code is in the fragment, which is never sent to a server or logged.
 */
export function movingOnPage(returnTo: string, code: string): { headers: Record<string, string>; body: string } {
  const address = escaped(`${returnTo}#sso=${code}`);
  const html = page("You are signed in", `<p><a href="${address}">Go on</a></p>`);
  return { headers: PAGE_HEADERS, body: html.replace("<title>", `<meta http-equiv="refresh" content="0;url=${address}"><title>`) };
}

/** Why the sign-in was refused, with a link back to `address`, the page it started from. */
export const notSignedInPage = (why: string, address: string): string =>
  page("You were not signed in", `<p>${escaped(why)}</p><p><a href="${escaped(address)}">Back to sign-in</a></p>`);

/** The result of testing an identity provider, for the administrator who configures it. */
export function testedPage(claims: unknown, become: unknown): { headers: Record<string, string>; body: string } {
  const block = (title: string, value: unknown) => `<h2>${escaped(title)}</h2><pre>${escaped(JSON.stringify(value, null, 2))}</pre>`;
  return {
    headers: PAGE_HEADERS,
    body: page(
      "This is only a test",
      `<p>Nobody was signed in.</p>${block("What came in", claims)}${block("What it would become", become)}`,
    ),
  };
}
