import type { SessionCredential, SessionStatus } from "../../../directory/tools/session-state.ts";
import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../../kernel/json-value.ts";
import type { Call } from "../../../road/call.ts";
import type { ToolRoute, ToolTarget } from "../../../road/target.ts";
import { openState } from "./sealed-state.ts";
import { upstreamSession } from "./session-token.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import type { ToolRequest } from "../tool-request.ts";

export const SESSION_PURPOSE = "mcp-session";

/** A session that the gateway created for a handshake-dialect caller. */
export interface CallerSession {
  readonly value: JsonObject;
  readonly noted: SessionCredential;
  /** Names the session without revealing its ID, which is a credential. */
  readonly name: string;
  readonly said: SessionStatus;
}

/** The call's session at a server that the gateway presents, by the server's ID; a refusal if there is none. */
export async function callerSession(
  call: Call,
  serverId: string,
  { secrets, sessionState }: Pick<ToolParts, "secrets" | "sessionState">,
): Promise<CallerSession | Refusal> {
  const token = call.headers.get("mcp-session-id");
  if (token === null) return refuse("session_required");
  const value = openState(secrets, SESSION_PURPOSE, `${principalOf(call)}\n${serverId}`, token);
  if (value === null) return refuse("session_not_found");
  const noted = { tenantId: call.identity?.tenantId ?? "", token };
  const status = await sessionState.statusOf(noted);
  return status.ended ? refuse("session_not_found") : { value, noted, said: status, name: sessionState.nameOf(noted) };
}

/** Refuses a call whose session is lost, before it uses up anything that is valid only once, such as an approval. */
export async function refuseLostSession(
  call: Call,
  { envelope, subPath }: ToolRequest,
  { virtual }: Pick<ToolRoute, "virtual">,
  { server }: ToolTarget,
  parts: ToolParts,
): Promise<Refusal | null> {
  const token = call.headers.get("mcp-session-id");
  if (envelope !== null || token === null) return null;
  if (virtual !== null || (server.dialect === "stateless" && subPath === null)) {
    const session = await callerSession(call, virtual?.id ?? server.id, parts);
    return isRefusal(session) ? session : null;
  }
  return upstreamSession(parts.secrets, `${principalOf(call)}\n${server.id}`, token) === null ? refuse("session_not_found") : null;
}
