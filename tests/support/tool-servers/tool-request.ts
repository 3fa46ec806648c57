import type { ToolRequest } from "../../../server/services/tools/tool-request.ts";
import { isRpcProblem, readRpc } from "../../../server/wire/mcp/rpc.ts";

/** A tool call as a control sees it; `params` is JSON text, so it can contain any number JSON can express. */
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
