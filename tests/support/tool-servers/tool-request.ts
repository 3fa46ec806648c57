import type { ToolRequest } from "../../../server/services/tools/tool-request.ts";
import { isRpcProblem, readRpc } from "../../../server/wire/mcp/rpc.ts";

/** A call of a tool as a control sees it, its `params` as JSON text: a number in it may be any that JSON can write. */
export function toolCalled(params: string) {
  const message = readRpc(new TextEncoder().encode(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`));
  if (isRpcProblem(message)) throw new Error(message.message);
  return {
    target: { kind: "server", id: "mcp-1" },
    subPath: null,
    message,
    body: null,
    envelope: null,
    capability: null,
    paramHeaders: {},
  } satisfies ToolRequest;
}
