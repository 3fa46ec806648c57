import { type Refusal, refuse } from "../../kernel/errors.ts";
import { refuseUnreadable } from "../../controls/access/tool-access.ts";
import { authorizedSend } from "./authorization/authorize-server.ts";
import { connectGate } from "./authorization/connect-gate.ts";
import type { Call, ToolRoute } from "../../road/call.ts";
import { isObject } from "../../wire/document.ts";
import { memberText, readUpstreamRpc } from "../../wire/mcp/rpc.ts";
import { governToolCall } from "../../controls/argument-policies/govern-tool-call.ts";
import type { Answer } from "../../road/answer.ts";
import type { CarryOn } from "./approval-chain.ts";
import { approvalGate } from "./approval-gate.ts";
import { askedFirst } from "./asked-first.ts";
import { bridgedServer } from "./bridged-server.ts";
import { knownTool } from "./listed-tools.ts";
import { refuseOrigin } from "./origin.ts";
import { pass } from "./pass.ts";
import { refuseUnregistered } from "./registered-tools.ts";
import type { Relay } from "./relay.ts";
import { serve, type SynthesizedServer } from "./synthesized.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";
import { virtualServer } from "./virtual-server.ts";

export type ToolDispatch = (call: Call, request: ToolRequest) => Promise<Answer | Refusal>;

/** Where an admitted call to tool servers leaves the gateway. Its route has been set by the access control. */
export function toolDispatch(shared: ToolParts): ToolDispatch {
  return async (call, request) => {
    const route = call.tools;
    if (route === null) throw new Error("a call to a tool server was dispatched that no control had resolved");
    const stranger = refuseOrigin(call, shared.origins);
    if (stranger !== null) return stranger;
    noteRoute(call, route, shared);
    const [target] = route.targets;
    const parts = {
      ...shared,
      send: authorizedSend(
        shared.authorization,
        call,
        route.targets.map(({ server }) => server),
      ),
    };
    if (target !== undefined && (route.virtual === null || route.capability !== null)) {
      const connecting = await connectGate(parts, call, request, target);
      if (connecting !== null)
        return "kind" in connecting && connecting.kind === "held"
          ? askedFirst(call, connecting, () => approved(call, request, route, parts))
          : connecting;
    }
    return approved(call, request, route, parts);
  };
}

/** What can be shown to its server, held to what else has to be said to it. */
async function approved(call: Call, request: ToolRequest, route: ToolRoute, parts: ToolParts): Promise<Answer | Refusal> {
  const [target] = route.targets;
  let carryOn: CarryOn | null = null;
  if (route.capability?.type === "tool" && request.message?.method === "tools/call" && target !== undefined) {
    const denied = judged(call, request, route.capability.name);
    if (denied !== null) return denied;
    const unregistered = await refuseUnregistered(call, target, route.capability.name, parts);
    if (unregistered !== null) return unregistered;
    const held = await approvalGate(call, request, route, target, route.capability.name, parts);
    if (typeof held === "object" && held !== null)
      return "kind" in held && held.kind === "held" ? askedFirst(call, held, () => onwards(call, request, route, null, parts)) : held;
    carryOn = held;
  }
  return onwards(call, request, route, carryOn, parts);
}

/** What nothing holds any more, on its way to its server. */
async function onwards(
  call: Call,
  request: ToolRequest,
  route: ToolRoute,
  carryOn: CarryOn | null,
  parts: ToolParts,
): Promise<Answer | Refusal> {
  const [target] = route.targets;
  if (route.virtual !== null) return serve(call, request, carrying(virtualServer(call, route.virtual, route, parts), carryOn), parts);
  if (target === undefined) throw new Error("a call to a tool server has none");
  const { dialect } = target.server;
  const spoken =
    request.envelope !== null
      ? "stateless"
      : request.message === null && dialect === "stateless" && call.headers.get("mcp-session-id") === null
        ? "stateless"
        : "handshake";
  if (request.subPath !== null && request.message === null)
    return (call.request.method === "GET" ? null : refuseUnreadable(route)) ?? pass(call, request, target, parts);
  if (dialect === null || dialect === spoken || request.subPath !== null)
    return request.message === null && dialect === "stateless"
      ? refuse("method_not_allowed", undefined, { headers: { allow: "POST" } })
      : pass(call, request, target, parts, carryOn);
  return serve(call, request, carrying(bridgedServer(call, request, target, parts), carryOn), parts);
}

/** The server with answers that ask for input changed so that the approval goes on with them. */
function carrying(server: SynthesizedServer, carryOn: CarryOn | null): SynthesizedServer {
  return carryOn === null
    ? server
    : { ...server, carry: (message, sender, session) => carriedAnswer(server.carry(message, sender, session), carryOn) };
}

async function* carriedAnswer(relay: Relay, carryOn: CarryOn): Relay {
  const answer = yield* relay;
  const result = typeof answer === "string" ? readUpstreamRpc(answer)?.result : undefined;
  return typeof answer === "string" && isObject(result) ? (carryOn(answer, result) ?? answer) : answer;
}

/** By the argument policies on the tool, under the name its server knows and the one its caller does. */
function judged(call: Call, { message, capability }: ToolRequest, own: string): Refusal | null {
  const given = memberText(message?.document.memberText("params") ?? "{}", "arguments") ?? "{}";
  for (const name of new Set([own, capability?.name ?? own])) {
    const denied = governToolCall(call, name, given);
    if (denied !== null) return denied;
  }
  return null;
}

/** Says on the row which server is meant, and what the tool was when it was last seen. */
function noteRoute({ row }: Call, route: ToolRoute, parts: ToolParts): void {
  const [target] = route.targets;
  const only = route.virtual === null || route.capability !== null ? target : undefined;
  if (route.virtual !== null) row.custom_metadata = { ...(row.custom_metadata as object | undefined), virtual_server_id: route.virtual.id };
  row.server_id = only?.server.id ?? route.virtual?.id ?? null;
  if (only === undefined) return;
  row.server_version = only.server.serverVersion;
  if (route.capability?.type === "tool")
    row.tool_definition_hash = knownTool(parts.memory, only.server, route.capability.name)?.hash ?? null;
}
