import type { Call } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { withoutExecution } from "../../../wire/mcp/bridge.ts";
import { edited } from "../../../wire/mcp/rpc.ts";
import { writtenItems } from "../../../wire/mcp/written-items.ts";
import { answerGate, answersContent, definitionsIn, messageGate } from "../answers/answer-gate.ts";
import { isRefusal } from "../../../kernel/errors.ts";
import { forwardRequest } from "../forwarding/forward-request.ts";
import { openChanges } from "../changes/changes.ts";
import { offeredTools } from "../definitions/offered-tools.ts";
import { carriedCapabilities, type SynthesizedServer } from "./synthesized-server.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { ToolRequest } from "../tool-request.ts";
import { isConnecting, guardedInstructions } from "../definitions/guarded-instructions.ts";

/** Whether any tool declares how it runs as a task. */
function sayExecution(tools: JsonValue | undefined): boolean {
  return Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.execution !== undefined);
}

/** Presents a server to callers of the other dialect. */
export async function bridgedServer(call: Call, request: ToolRequest, target: ToolTarget, parts: ToolParts): Promise<SynthesizedServer> {
  const { server } = target;
  const instructions = isConnecting(request.message?.method) ? await guardedInstructions(call, server.instructions, parts) : null;
  return {
    id: server.id,
    info: { ...(server.serverInfo as JsonObject | null), name: server.serverName ?? server.name, version: server.serverVersion ?? "" },
    capabilities: carriedCapabilities(server.capabilities),
    instructions: typeof instructions === "string" ? instructions : null,
    async changes(filter, sender) {
      const opened = await openChanges(call, server, filter, sender, parts);
      return isRefusal(opened) ? opened : [opened];
    },
    forward: (message, sender, session) =>
      forwardRequest(
        call,
        {
          server,
          method: message.method ?? "",
          params: message.document.memberText("params"),
          parsed: message.params,
          capability: request.capability,
          id: message.id ?? 0,
          dialect: session === null ? "stateless" : "handshake",
          sender,
          session,
          gate: (text, result) =>
            answersContent(request)
              ? answerGate(call, target, text, result, parts)
              : messageGate(call, text, parts, definitionsIn(message.method)),
          async edit(result, text) {
            if (message.method !== "tools/list") return null;
            const kept = await offeredTools(call, target, result, server.dialect === "stateless", sender.capabilities, parts);
            const plain = session === null && sayExecution(kept ?? result.tools) ? withoutExecution : undefined;
            if (kept === null && plain === undefined) return null;
            const tools = writtenItems(text, result, "tools", kept ?? (result.tools as JsonValue[]), plain);
            return edited(text, { tools: `[${tools.join(",")}]` });
          },
        },
        parts,
      ),
  };
}
