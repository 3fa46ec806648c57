/** A minimal browser for sign-in: it stores cookies by host and follows redirects only on request. */
export interface SignOnBrowser {
  go(address: string, init?: RequestInit): Promise<Response>;
  /** Follows redirects to the first other answer. */
  follow(address: string): Promise<Response>;
  /** Cookies by host, then by name. */
  readonly cookies: Map<string, Map<string, string>>;
}

export function signOnBrowser(): SignOnBrowser {
  const cookies = new Map<string, Map<string, string>>();
  const browser: SignOnBrowser = {
    cookies,
    async go(address, init = {}) {
      const { host } = new URL(address);
      const jar = cookies.get(host) ?? new Map<string, string>();
      cookies.set(host, jar);
      const headers = new Headers(init.headers);
      if (jar.size > 0) headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
      const response = await fetch(address, { ...init, headers, redirect: "manual" });
      for (const cookie of response.headers.getSetCookie()) {
        const [pair = "", ...attributes] = cookie.split(";");
        const at = pair.indexOf("=");
        if (attributes.some((one) => /^\s*max-age=0$/i.test(one))) jar.delete(pair.slice(0, at));
        else jar.set(pair.slice(0, at), pair.slice(at + 1));
      }
      return response;
    },
    async follow(address) {
      for (let to = address; ;) {
        const response = await browser.go(to);
        const location = response.headers.get("location");
        if (location === null) return response;
        to = new URL(location, to).href;
      }
    },
  };
  return browser;
}

/** The URL a page redirects to, and the code in it; null if it does not redirect. */
export function movedOn(html: string): { to: string; code: string } | null {
  const found = /content="0;url=([^"#]*)#sso=([\w-]+)"/.exec(html);
  return found === null ? null : { to: found[1] as string, code: found[2] as string };
}
