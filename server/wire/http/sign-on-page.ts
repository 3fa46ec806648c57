import { escaped, page, PAGE_HEADERS } from "./html-page.ts";

/** What browsers are given while they sign in elsewhere: the cookie that binds a sign-in to them, and the pages it ends on. */

const NAME = "gw_sso";
const SECONDS = 600;

/** On https under a name that no other host can set. */
const nameAt = (base: string) => (base.startsWith("https:") ? `__Host-${NAME}` : NAME);

/**
 * An answer of OpenID Connect comes by a link, which lax cookies go with; one of SAML by a form of the provider's, which
 * only a cookie without such bounds goes with.
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
 * Moves on to a page of ours. A page and not a redirect, because strict cookies do not come with what began elsewhere. The
 * code stands in the fragment, which no server and no log ever sees.
 */
export function movingOnPage(returnTo: string, code: string): { headers: Record<string, string>; body: string } {
  const address = escaped(`${returnTo}#sso=${code}`);
  const html = page("You are signed in", `<p><a href="${address}">Go on</a></p>`);
  return { headers: PAGE_HEADERS, body: html.replace("<title>", `<meta http-equiv="refresh" content="0;url=${address}"><title>`) };
}

/** Why somebody is not let in, with the way back to `address`, the page they came from. */
export const notSignedInPage = (why: string, address: string): string =>
  page("You were not signed in", `<p>${escaped(why)}</p><p><a href="${escaped(address)}">Back to sign-in</a></p>`);

/** What a test of a provider brought, for whoever sets it up. */
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
