import { idIn, memberText, type RpcId, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { ToolParts } from "../tool-parts.ts";

type Parts = Pick<ToolParts, "memory" | "sessionState" | "secrets">;

/** "1" and 1 are two ids. */
const keyOf = (session: string, id: RpcId) => `${session}\n${JSON.stringify(id)}`;

/**
 * The session's own text is a credential of its caller, so it is never published. The id is published in clear, so that few have to be
 * compared.
 */
const markOf = ({ secrets }: Pick<Parts, "secrets">, key: string) => secrets.hmac("mcp-cancelled", key);

/** Of longer ids every request under way would have to be looked at. */
const MAX_CHARACTERS = 200;

/**
 * Registers a request that a `notifications/cancelled` of its session may end, in whichever process it arrives, until the returned function
 * is called.
 */
export function cancellableRequest({ memory }: Pick<Parts, "memory">, session: string, id: RpcId, abort: AbortController): () => void {
  const key = keyOf(session, id);
  memory.underWay.set(key, abort);
  return () => {
    if (memory.underWay.get(key) === abort) memory.underWay.delete(key);
  };
}

/** Ends the request that a `notifications/cancelled` names, whichever process it is under way in. */
export async function cancelRequest(parts: Parts, session: string, { document, params }: RpcMessage): Promise<void> {
  const id = idIn(memberText(document.memberText("params") ?? "{}", "requestId"), params.requestId);
  if (id === null) return;
  const key = keyOf(session, id);
  const here = parts.memory.underWay.get(key);
  if (here !== undefined) here.abort("client_disconnected");
  else if (String(id).length <= MAX_CHARACTERS)
    await parts.sessionState.tellCancelled(`${markOf(parts, key)} ${JSON.stringify(id)}`).catch(() => undefined);
}

/** Ends a request of this process that was cancelled through another process. */
export function cancelMarked(parts: Pick<Parts, "memory" | "secrets">, told: string): void {
  const [mark = ""] = told.split(" ", 1);
  const end = `\n${told.slice(mark.length + 1)}`;
  for (const [key, abort] of parts.memory.underWay)
    if (key.endsWith(end) && markOf(parts, key) === mark) abort.abort("client_disconnected");
}
