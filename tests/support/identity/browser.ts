/** Acts like a browser during logins and consents: cookies, redirects and forms. */
export class ScriptedBrowser {
  private readonly jars = new Map<string, Map<string, string>>();
  /** Every URL visited. */
  readonly visited: string[] = [];
  private readonly account: string;
  private readonly apiKey: string;

  constructor(account: string, apiKey = "") {
    this.account = account;
    this.apiKey = apiKey;
  }

  /** Follows redirects and submits every form until it is redirected to `until` or reaches a page without a form. */
  async walk(address: string, until = "\u0000"): Promise<{ url: URL; page: string; status: number }> {
    let response = await this.ask(address);
    for (let step = 0; step < 25; step++) {
      const to = response.headers.get("location");
      if (to !== null) {
        const url = new URL(to, response.url || this.visited.at(-1));
        if (url.href.startsWith(until)) return { url, page: "", status: response.status };
        response = await this.ask(url.href);
        continue;
      }
      const page = await response.text();
      const form = this.filled(page);
      const at = this.visited.at(-1) as string;
      if (form === null || response.status >= 400) return { url: new URL(at), page, status: response.status };
      if (page.includes('class="problem"')) return { url: new URL(at), page, status: response.status };
      response = await this.ask(new URL(form.action, at).href, form.fields);
    }
    throw new Error(`the way does not end: ${this.visited.join(" -> ")}`);
  }

  async ask(address: string, form?: Record<string, string>): Promise<Response> {
    this.visited.push(address);
    const { host } = new URL(address);
    const jar = this.jars.get(host) ?? new Map<string, string>();
    this.jars.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(address, {
      redirect: "manual",
      headers: {
        accept: "text/html",
        ...(cookie === "" ? {} : { cookie }),
        ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded", origin: new URL(address).origin }),
      },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form).toString() }),
    });
    this.take(response.headers.getSetCookie(), address);
    return response;
  }

  /** Stores cookies set by that URL. */
  take(lines: readonly string[], address: string): void {
    const { host } = new URL(address);
    const jar = this.jars.get(host) ?? new Map<string, string>();
    this.jars.set(host, jar);
    for (const line of lines) {
      const [pair = "", ...attributes] = line.split(";");
      const name = pair.slice(0, pair.indexOf("="));
      const ended = attributes.some((attribute) => /max-age=0|expires=thu, 01 jan 1970/i.test(attribute.trim()));
      if (ended) jar.delete(name);
      else jar.set(name, pair.slice(pair.indexOf("=") + 1));
    }
  }

  private filled(page: string): { action: string; fields: Record<string, string> } | null {
    const form = /<form[^>]*action="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(page);
    if (form === null) return null;
    const fields: Record<string, string> = {};
    for (const [input] of (form[2] as string).matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1];
      if (name !== undefined) fields[name] = /value="([^"]*)"/.exec(input)?.[1] ?? "";
    }
    if ("login" in fields) fields.login = this.account;
    if ("password" in fields) fields.password = "any";
    if ("api_key" in fields) fields.api_key = this.apiKey;
    if ("request" in fields) fields.decision = "allow";
    return { action: (form[1] as string).replaceAll("&amp;", "&"), fields };
  }
}
