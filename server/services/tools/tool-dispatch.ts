import { restrictsTools } from "../../directory/tools/tool-access.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { authorizedSend } from "./authorization/authorize-server.ts";
import { connectGate } from "./authorization/connect-gate.ts";
import { arrivalOf, type Call } from "../../road/call.ts";
import type { ToolRoute } from "../../road/target.ts";
import type { Answer } from "../../road/answer.ts";
import type { SealApproval } from "./approvals/approval-chain.ts";
import { toolAction } from "./approvals/approval-gate.ts";
import type { Passage } from "../../road/outlet.ts";
import type { ToolServerSend } from "../../upstreams/tool-servers/send.ts";
import { carryingApproval } from "./approvals/carried-approval.ts";
import type { RequestView } from "../../road/view.ts";
import { pausedCallStream } from "./approvals/paused-call.ts";
import { bridgedServer } from "./servers/bridged-server.ts";
import { knowledgeToolServer } from "./servers/knowledge-tools.ts";
import { noteRoute } from "./note-route.ts";
import { refuseOrigin } from "./origin.ts";
import { passThrough } from "./servers/pass-through.ts";
import { serveSynthesized } from "./servers/synthesized.ts";
import type { ToolParts, ToolServiceParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";
import { skillServerFor } from "./skills/skill-server.ts";
import { serveVirtualServer } from "./servers/virtual-server.ts";
import { toolsOf } from "../../road/target.ts";

export type ToolDispatch = (call: Call, request: ToolRequest, view: RequestView) => Promise<Answer | Refusal>;

/** Sends an admitted call to its tool servers. The access control has already set its route. */
export function toolDispatch(shared: ToolServiceParts): ToolDispatch {
  return async (call, request, view) => {
    const route = admittedRoute(call);
    const stranger = refuseOrigin(call, shared.origins);
    if (stranger !== null) return stranger;
    if (route.own === "skills") return dispatchSkill(call, request, route, shared);
    noteRoute(call, route, shared);
    const [target] = route.targets;
    // Access to the servers for what is looked up before the action passes the gates.
    const looking = reached(call, route, shared, shared.outlet.look(call));
    if (route.own !== undefined && request.subPath !== null) return refuse("not_found");
    if (route.own !== undefined)
      return serveSynthesized(call, request, knowledgeToolServer(call, route, shared.knowledge, looking), looking);
    if (target !== undefined && (route.virtual === null || route.capability !== null)) {
      const connecting = await connectGate(looking, call, request, target);
      if (connecting !== null)
        return "kind" in connecting && connecting.kind === "held"
          ? pausedCallStream(call, connecting, () => resumed(call, request, view, shared, null))
          : connecting;
    }
    return gated(call, { request, view, route, heldFor: null }, shared, looking);
  };
}

function admittedRoute(call: Call): ToolRoute {
  const route = toolsOf(call);
  if (route === null) throw new Error("a call to a tool server was dispatched that no control had resolved");
  return route;
}

/** Continues a paused call as if it arrived now, because its caller may no longer be admitted. `heldFor`: the approval it waited for. */
async function resumed(
  call: Call,
  request: ToolRequest,
  view: RequestView,
  shared: ToolServiceParts,
  heldFor: string | null,
): Promise<Answer | Refusal> {
  // A token that only expired during the pause does not end the call.
  const { refusal, now } = await shared.gates.readmit(call, "group", view, arrivalOf(call));
  if (refusal !== null) return refusal;
  call.scope = now.scope;
  call.target = now.target;
  delete call.row.agent_authz_decision;
  const route = admittedRoute(call);
  return gated(call, { request, view, route, heldFor }, shared, reached(call, route, shared, shared.outlet.look(call)));
}

/** The skill server is part of the gateway, so no connection or approval at an upstream is involved. */
async function dispatchSkill(call: Call, request: ToolRequest, route: ToolRoute, shared: ToolServiceParts): Promise<Answer | Refusal> {
  if (request.subPath !== null) return refuse("not_found");
  const parts = { ...shared, send: shared.outlet.look(call).upstream };
  return serveSynthesized(call, request, await skillServerFor(call, request, route, parts), parts);
}

interface GatedRequest {
  readonly request: ToolRequest;
  readonly view: RequestView;
  readonly route: ToolRoute;
  /** ID of the approval that the call was paused for before; null if it was not paused. */
  readonly heldFor: string | null;
}

/** Forwards a request; a tool call has to pass the gates first. */
async function gated(
  call: Call,
  { request, view, route, heldFor }: GatedRequest,
  shared: ToolServiceParts,
  looking: ToolParts,
): Promise<Answer | Refusal> {
  const [target] = route.targets;
  if (route.capability?.type !== "tool" || request.message?.method !== "tools/call" || target === undefined)
    return onwards(call, request, route, null, looking);
  const tool = toolAction(call, { request, route, target, name: route.capability.name, heldFor }, looking);
  const passage = await shared.outlet.open(call, tool.action);
  if (isRefusal(passage)) return passage;
  if (passage.kind === "pass")
    return onwards(call, request, route, tool.carriedBy(passage.approvalId), reached(call, route, shared, passage));
  const goOn = () => resumed(call, request, view, shared, passage.approval?.id ?? null);
  const held = await tool.whileHeld(passage.approval);
  if (held === null) {
    call.row.proxy_subtype = call.audit.proxySubtype;
    return goOn();
  }
  return "kind" in held && held.kind === "held" ? pausedCallStream(call, held, goOn) : held;
}

/** Adds access to the call's servers with the caller's authorization. */
function reached(call: Call, { targets }: ToolRoute, shared: ToolServiceParts, { upstream }: Passage<ToolServerSend>): ToolParts {
  const servers = targets.map(({ server }) => server);
  const send: Passage<ToolServerSend>["upstream"] = async (request) =>
    shared.ownServer(call, request) ?? upstream({ ...request, tenantId: call.identity?.tenantId });
  return { ...shared, send: authorizedSend({ ...shared.authorization, send }, call, servers) };
}

const LOOKING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/** Forwards a request that has passed all gates. */
async function onwards(
  call: Call,
  request: ToolRequest,
  route: ToolRoute,
  carryOn: SealApproval | null,
  parts: ToolParts,
): Promise<Answer | Refusal> {
  const [target] = route.targets;
  if (route.virtual !== null)
    return serveSynthesized(call, request, carryingApproval(serveVirtualServer(call, route.virtual, route, parts), carryOn), parts);
  if (target === undefined) throw new Error("a call to a tool server has none");
  const { dialect } = target.server;
  const spoken =
    request.envelope !== null
      ? "stateless"
      : request.message === null && dialect === "stateless" && call.headers.get("mcp-session-id") === null
        ? "stateless"
        : "handshake";
  if (request.subPath !== null && request.message === null)
    return (LOOKING.has(call.method) ? null : refuseUnreadable(call, route)) ?? passThrough(call, request, target, parts);
  if (dialect === null || dialect === spoken || request.subPath !== null)
    return request.message === null && dialect === "stateless"
      ? refuse("method_not_allowed", undefined, { headers: { allow: "POST" } })
      : passThrough(call, request, target, parts, carryOn);
  return serveSynthesized(call, request, carryingApproval(await bridgedServer(call, request, target, parts), carryOn), parts);
}

/** Refuses a body that is not a message where rules for tools apply, because these cannot be checked on it. */
function refuseUnreadable({ scope }: Call, { targets: [target] }: ToolRoute): Refusal | null {
  const ruled =
    (target !== undefined && restrictsTools(target.access)) ||
    (scope !== null && (scope.toolCallPolicies.size > 0 || scope.autonomy?.asksFirst === true));
  return ruled
    ? refuse("tool_not_allowed", "Where rules hold for tools, a server takes no request that is no message of the protocol.")
    : null;
}
