import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { isObject } from "../../../kernel/json-value.ts";
import { requestText } from "../../../wire/mcp/rpc.ts";
import { answerInTime } from "../forwarding/answer-in-time.ts";
import type { PooledSession } from "../forwarding/exchange.ts";
import { JSON_AND_EVENTS, sessionHeaders } from "./session-pool.ts";
import type { ToolParts } from "../tool-parts.ts";
import { finalMessage, upstreamMessages } from "../forwarding/upstream-messages.ts";

/** Whether the response means that the server does not know the session; some servers send 400 for that. */
export async function forgotSession(response: Response): Promise<boolean> {
  if (response.status === 404) {
    void cancelQuietly(response.body);
    return true;
  }
  if (response.status !== 400) return false;
  const error = (await finalMessage(upstreamMessages(response.clone()), null))?.value.error;
  return isObject(error) && (error.code === -32000 || error.code === -32001);
}

/** Asks the server whether it has lost the session, e.g. by a restart. */
export async function isForgotten(
  session: PooledSession,
  server: ToolServerEntry,
  credentials: Readonly<Record<string, string>>,
  { send }: Pick<ToolParts, "send">,
): Promise<boolean> {
  if (session.id === null) return false;
  const abort = new AbortController();
  const response = await send({
    url: server.url,
    method: "POST",
    headers: { ...JSON_AND_EVENTS, ...credentials, ...sessionHeaders(session) },
    body: requestText(session.nextId++, "ping", null),
    abort,
    timeoutMs: server.timeoutMs,
  });
  if (isRefusal(response)) return false;
  // A broken response tells as little as none.
  const forgot = await answerInTime(forgotSession(response), server.timeoutMs, abort).catch(() => false);
  void cancelQuietly(response.body);
  return forgot === true;
}
