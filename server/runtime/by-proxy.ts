type Environment = Readonly<Record<string, string | undefined>>;

/** Files of environment variables may keep the quotes of an empty value, which Bun takes as no proxy. */
const QUOTED_NOTHING = new Set(['""', "''"]);

/**
 * Whether Bun's `fetch` would send a request to this named host through a proxy that the environment configures. Where this differs from
 * Bun's own rules, it says no: such a request then goes directly to the address that was checked.
 */
export function goesByProxy({ protocol, hostname, port }: URL, env: Environment = process.env): boolean {
  const scheme = protocol === "https:" ? "https" : "http";
  const names = [`${scheme}_proxy`, "all_proxy"].flatMap((name) => [name, name.toUpperCase()]);
  const proxies = names.map((name) => env[name] ?? "").filter((value) => value !== "");
  if (proxies.length === 0 || proxies.some((value) => QUOTED_NOTHING.has(value))) return false;
  const host = hostname.replace(/\.$/, "");
  const ported = `${host}:${port === "" ? (scheme === "https" ? "443" : "80") : port}`;
  // Bun reads only the first of the two that is set; here either counts.
  const direct = [env["no_proxy"], env["NO_PROXY"]].flatMap((list) => (list ?? "").toLowerCase().split(/[\s,]+/));
  return !direct.some((entry) => {
    const named = entry
      .replaceAll(/[[\]]/g, "")
      .replace(/^\*?\./, "")
      .replace(/\.$/, "")
      .replace(/:0+(?=\d)/, ":");
    return entry === "*" || (named !== "" && [host, ported].some((own) => own === named || own.endsWith(`.${named}`)));
  });
}
