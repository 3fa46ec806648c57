import { EMPTY_VIEW } from "../../road/request/empty-view.ts";
import type { Surface } from "../../road/surface.ts";
import type { AgentService } from "../../services/agents/agent-service.ts";
import { restRefusals } from "./refusals.ts";

const CARD_PATH = /^\/(?:\.well-known\/agent-card|a2a)\/([^/]+)\/([^/]+?)(?:\/\.well-known\/(agent-card|agent)\.json)?$/;
const KEYS_PATH = /^\/\.well-known\/a2a-jwks\/([^/]+)$/;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An agent's card, public. In v1.0 form, or in v0.3 form for clients that ask for it or use the older path. */
export const agentCard = (agents: AgentService): Surface => ({
  ...restRefusals,
  read(call) {
    const [, tenant = "", card = "", file] = CARD_PATH.exec(call.path) ?? [];
    const requestedVersion = call.headers.get("a2a-version") ?? new URL(call.url).searchParams.get("A2A-Version");
    const version = file === "agent" || requestedVersion?.trim().startsWith("0.3") === true ? "0.3" : "1.0";
    call.row.a2a_protocol_version = version;
    return { view: EMPTY_VIEW, answer: (admitted) => agents.documents.card(admitted, decoded(tenant), decoded(card), version) };
  },
});

/** The public keys that a tenant's cards and notifications are signed with. */
export const agentKeys = (agents: AgentService): Surface => ({
  ...restRefusals,
  read(call) {
    const [, tenant = ""] = KEYS_PATH.exec(call.path) ?? [];
    return { view: EMPTY_VIEW, answer: (admitted) => agents.documents.keys(admitted, decoded(tenant)) };
  },
});
