import { idIn, memberText, type RpcId, type RpcMessage } from "../../../wire/mcp/rpc.ts";
import type { ToolParts } from "../tool-parts.ts";

type Parts = Pick<ToolParts, "memory" | "sessionState" | "secrets">;

/** JSON, because "1" and 1 are different IDs. */
const keyOf = (session: string, id: RpcId) => `${session}\n${JSON.stringify(id)}`;

/**
 * The session ID is a credential and is never published to other processes. The request ID is published in clear, so that only a few
 * digests must be compared.
 */
const markOf = ({ secrets }: Pick<Parts, "secrets">, key: string) => secrets.hmac("mcp-cancelled", key);

/** Longer IDs are not published to other processes. */
const MAX_CHARACTERS = 200;

/**
 * Registers a request that `notifications/cancelled` may end, in whichever process the notification arrives. The returned function
 * unregisters it.
 */
export function cancellableRequest({ memory }: Pick<Parts, "memory">, session: string, id: RpcId, abort: AbortController): () => void {
  const key = keyOf(session, id);
  memory.underWay.set(key, abort);
  return () => {
    if (memory.underWay.get(key) === abort) memory.underWay.delete(key);
  };
}

/** Ends the request named by `notifications/cancelled`, in whichever process it is running. */
export async function cancelRequest(parts: Parts, session: string, { document, params }: RpcMessage): Promise<void> {
  const id = idIn(memberText(document.memberText("params") ?? "{}", "requestId"), params.requestId);
  if (id === null) return;
  const key = keyOf(session, id);
  const here = parts.memory.underWay.get(key);
  if (here !== undefined) here.abort("client_disconnected");
  else if (String(id).length <= MAX_CHARACTERS)
    await parts.sessionState.tellCancelled(`${markOf(parts, key)} ${JSON.stringify(id)}`).catch(() => undefined);
}

/** Ends a request in this process that was cancelled through another process. */
export function cancelMarked(parts: Pick<Parts, "memory" | "secrets">, markOfRequest: string): void {
  const [mark = ""] = markOfRequest.split(" ", 1);
  const end = `\n${markOfRequest.slice(mark.length + 1)}`;
  for (const [key, abort] of parts.memory.underWay)
    if (key.endsWith(end) && markOf(parts, key) === mark) abort.abort("client_disconnected");
}
