import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import type { Call } from "../../../road/call.ts";
import { isObject } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import { openExchange } from "../forwarding/server-exchange.ts";
import type { ToolParts } from "../tool-parts.ts";
import { finalMessage } from "../forwarding/upstream-messages.ts";

/**
 * Whether the server took it. That is for everybody who listens in the session, also when the call it is asked in is over
 * by then: its row tells of its own request, and nothing begins for it any more.
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
