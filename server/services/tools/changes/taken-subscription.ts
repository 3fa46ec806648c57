import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { isObject } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import { openExchange } from "../forwarding/server-exchange.ts";
import type { ToolParts } from "../tool-parts.ts";
import { finalMessage } from "../forwarding/upstream-messages.ts";

/**
 * Sends the subscription request; resolves to whether the server accepted it. Independent of the call's own abort and row, because the
 * result is shared by all listeners of the session and the call may already have ended.
 */
export async function takesSubscription(
  call: Call,
  server: ToolServerEntry,
  method: string,
  uri: string,
  sender: McpSender,
  parts: ToolParts,
): Promise<boolean> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort("upstream_timeout"), server.timeoutMs);
  try {
    const exchange = await openExchange(
      { ...call, abort, row: { ...call.row } },
      server,
      {
        method,
        params: JSON.stringify({ uri }),
        capability: null,
        arguments: undefined,
        sender: { ...sender, logLevel: null },
        id: method,
      },
      { ...parts, begin: () => undefined },
    );
    if (isRefusal(exchange)) return false;
    const answer = await finalMessage(exchange.messages, exchange.id).catch(() => null);
    exchange.end();
    return isObject(answer?.value.result);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
