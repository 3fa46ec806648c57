import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import type { Refusal } from "../../../kernel/errors.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import type { McpSender } from "../../../wire/mcp/bridge.ts";
import type { Call } from "../../../road/call.ts";
import { memberText } from "../../../wire/mcp/rpc.ts";
import { allPages, type ListPage } from "./all-pages.ts";
import { forwardRequest } from "../forwarding/forward-request.ts";
import type { Relay } from "../answers/relay.ts";
import type { ToolParts } from "../tool-parts.ts";
import { definitionsIn, messageGate } from "../answers/answer-gate.ts";

/** Lists from a server in its own dialect, on the gateway's behalf. Same result as `allPages`. */
export function completeList(
  call: Call,
  method: string,
  server: ToolServerEntry,
  sender: McpSender,
  parts: ToolParts,
): Promise<ListPage[] | Refusal | null> {
  return allPages(async (cursor, number) => {
    const parsed: JsonObject = cursor === null ? {} : { cursor };
    const relay = forwardRequest(
      call,
      {
        server,
        method,
        params: JSON.stringify(parsed),
        parsed,
        capability: null,
        id: `${method} ${number}`,
        dialect: server.dialect ?? "handshake",
        sender,
        session: null,
        gate: (text) => messageGate(call, text, parts, definitionsIn(method)),
        edit: () => null,
      },
      parts,
    );
    const answer = await last(relay);
    if (typeof answer !== "string") return answer;
    const { result } = JSON.parse(answer) as JsonObject;
    return isObject(result) ? { result, text: memberText(answer, "result") ?? "{}" } : null;
  });
}

async function last(relay: Relay): Promise<string | Refusal | null> {
  try {
    for (;;) {
      const step = await relay.next();
      if (step.done === true) return step.value;
    }
  } catch {
    return null;
  }
}
