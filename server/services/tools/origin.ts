import { type Refusal, refuse } from "../../kernel/errors.ts";
import type { Call } from "../../road/call.ts";
import type { OriginRules } from "./tool-parts.ts";

type Asker = Pick<Call, "headers" | "url">;

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Refuses requests from web pages of other origins, which could use a browser's credentials or local network access. Requests without an
 * Origin header do not come from a page.
 */
export function refuseOrigin(call: Asker, rules: OriginRules): Refusal | null {
  const { headers } = call;
  const host = hostOf(call);
  const stranger = refuseHost(call, rules);
  if (stranger !== null) return stranger;
  const origin = headers.get("origin");
  if (origin === null || rules.allowed.has(origin)) return null;
  const own = URL.canParse(origin) && new URL(origin).host === host;
  return own ? null : refuse("origin_not_allowed", undefined, { reason: `origin ${origin.slice(0, 200)}` });
}

/** On a gateway bound to loopback, refuses Host headers with other names (DNS rebinding). */
export function refuseHost(call: Asker, rules: OriginRules): Refusal | null {
  const host = hostOf(call);
  const name = hostnameOf(`http://${host}`);
  return rules.loopback && (name === null || !LOOPBACK.has(name))
    ? refuse("origin_not_allowed", undefined, { reason: `host ${host.slice(0, 200)}` })
    : null;
}

function hostOf({ headers, url }: Asker): string {
  return headers.get("host") ?? new URL(url).host;
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}
