import type { NamedAgent } from "./agent-exchange.ts";

const AGENT_PATH = /^\/a2a\/([^/]+)\/([^/]+)(?:\/(.*))?$/;

/** The agent that a path below /a2a/ names, and the rest of the path below the agent's own address. */
export function agentOfPath(path: string): { readonly named: NamedAgent; readonly rest: string } {
  const [, tenant = "", card = "", rest = ""] = AGENT_PATH.exec(path) ?? [];
  return { named: { tenantId: decoded(tenant), cardName: decoded(card) }, rest };
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
