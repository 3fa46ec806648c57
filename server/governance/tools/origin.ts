import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { OriginRules } from "./tool-parts.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Keeps pages of other sites from calling tool servers with a key or a name of this machine. A request without an Origin comes from no page. */
export function refuseOrigin({ headers, url }: Request, rules: OriginRules): Refusal | null {
  const host = headers.get("host") ?? new URL(url).host;
  const name = hostnameOf(`http://${host}`);
  if (rules.loopback && (name === null || !LOOPBACK.has(name))) return refuse("origin_not_allowed", undefined, { reason: `host ${host.slice(0, 200)}` });
  const origin = headers.get("origin");
  if (origin === null || rules.allowed.has(origin)) return null;
  const own = URL.canParse(origin) && new URL(origin).host === host;
  return own ? null : refuse("origin_not_allowed", undefined, { reason: `origin ${origin.slice(0, 200)}` });
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}
