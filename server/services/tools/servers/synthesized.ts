import { type Refusal, refuse, isRefusal } from "../../../kernel/errors.ts";
import { exactValue } from "../../../kernel/text/exact-numbers.ts";
import { isObject, type JsonObject } from "../../../kernel/json-value.ts";
import { carriedClientCapabilities, type McpSender } from "../../../wire/mcp/bridge.ts";
import { isTaskMethod } from "../../../wire/mcp/capability.ts";
import { isHandshakeOnly, HANDSHAKE_VERSIONS, META, isStatelessOnly, STATELESS_VERSION } from "../../../wire/mcp/dialect.ts";
import { DEFAULT_LOG_LEVEL, isLogLevel } from "../../../wire/mcp/log-levels.ts";
import { resultText } from "../../../wire/mcp/rpc.ts";
import { abortReason, type Call } from "../../../road/call.ts";
import { type Answer, ownAnswer } from "../../../road/answer.ts";
import { takesEvents } from "../answers/answer-in-stream.ts";
import { callerSession } from "../sessions/caller-session.ts";
import { deliverClientAnswer } from "../questions/client-answers.ts";
import { initializedSession } from "../sessions/initialized-session.ts";
import { subscriptionStream, sessionStream } from "../changes/listen.ts";
import { acceptedAnswer, type Relay, relayAnswer, wholeAnswer, wholeRelayAnswer } from "../answers/relay.ts";
import { cancellableRequest, cancelRequest } from "../forwarding/cancellation.ts";
import { subscribed, noteOrRefuse } from "../sessions/session-notes.ts";
import { definitionsIn, messageGate } from "../answers/answer-gate.ts";
import { inspectedChanges } from "../changes/inspected-changes.ts";
import { methodNotServed, type SynthesizedServer } from "./synthesized-server.ts";
import { serveWithoutSession } from "./without-session.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import type { ToolRequest } from "../tool-request.ts";

export async function serveSynthesized(
  call: Call,
  request: ToolRequest,
  server: SynthesizedServer,
  parts: ToolParts,
): Promise<Answer | Refusal> {
  const inspectedServer = { ...server, changes: inspectedChanges(call, server.changes, parts) };
  return request.envelope === null
    ? serveHandshake(call, request, inspectedServer, parts)
    : serveStateless(call, request, inspectedServer, parts);
}

async function serveStateless(
  call: Call,
  { message, envelope }: ToolRequest,
  server: SynthesizedServer,
  parts: ToolParts,
): Promise<Answer | Refusal> {
  if (message === null || envelope === null) return refuse("method_not_allowed", undefined, { headers: { allow: "POST" } });
  if (envelope.version !== STATELESS_VERSION)
    return refuse("rpc_unsupported_version", undefined, { extra: { supported: [STATELESS_VERSION], requested: envelope.version } });
  if (message.kind !== "request") return acceptedAnswer();
  const { id } = message;
  if (message.method === "server/discover") {
    const result = {
      resultType: "complete",
      supportedVersions: [STATELESS_VERSION],
      capabilities: server.capabilities,
      ...(server.instructions === null ? {} : { instructions: server.instructions }),
      ttlMs: 0,
      cacheScope: "private",
      _meta: { [META.serverInfo]: server.info },
    };
    const text = resultText(id, JSON.stringify(result));
    const inspected = (await messageGate(call, text, parts, definitionsIn(message.method))) ?? text;
    return typeof inspected === "string" ? wholeAnswer(call, inspected, "stateless") : inspected;
  }
  if (isHandshakeOnly(message.method ?? "") || isTaskMethod(message.method)) return refuse("rpc_method_not_found");
  const sender: McpSender = {
    version: envelope.version,
    capabilities: carriedClientCapabilities(envelope.capabilities),
    clientInfo: envelope.clientInfo,
    logLevel: envelope.logLevel,
    session: null,
  };
  if (message.method === "subscriptions/listen") return relayAnswer(call, subscriptionStream(message, sender, server.changes), "stateless");
  const answered = takesEvents(call.headers) ? relayAnswer : wholeRelayAnswer;
  return answered(call, server.forward(message, sender, null), "stateless");
}

async function serveHandshake(
  call: Call,
  { message }: ToolRequest,
  server: SynthesizedServer,
  parts: ToolParts,
): Promise<Answer | Refusal> {
  const owner = `${principalOf(call)}\n${server.id}`;
  if (message?.method === "initialize" && message.kind === "request") return initializedSession(call, message, server, owner, parts);
  const sessionless = call.headers.get("mcp-session-id") === null;
  const session = sessionless ? null : await callerSession(call, server.id, parts);
  if (session !== null && isRefusal(session)) return session;
  const spoken = call.headers.get("mcp-protocol-version");
  if (spoken !== null && !(HANDSHAKE_VERSIONS as readonly string[]).includes(spoken))
    return refuse("rpc_invalid_request", `MCP-Protocol-Version is none of those with sessions: ${HANDSHAKE_VERSIONS.join(", ")}.`);
  if (session === null) return serveWithoutSession(call, message, spoken, server);
  const { value, noted, said, name } = session;
  const { token } = noted;
  const sender: McpSender = {
    version: String(value.version),
    capabilities: carriedClientCapabilities(isObject(value.capabilities) ? value.capabilities : {}),
    clientInfo: isObject(value.client) ? value.client : null,
    logLevel: said.level ?? DEFAULT_LOG_LEVEL,
    session: name,
  };
  if (message === null) {
    if (call.method === "GET") return sessionStream(call, noted, sender, server.changes, parts);
    return (await noteOrRefuse(() => parts.sessionState.end(noted))) ?? ownAnswer(204, {});
  }
  if (message.kind === "response") {
    await deliverClientAnswer(parts, token, String(message.id), exactValue(message.document.text()) as JsonObject);
    return acceptedAnswer();
  }
  if (message.kind === "notification") {
    if (message.method === "notifications/cancelled") await cancelRequest(parts, token, message);
    return acceptedAnswer();
  }
  if (isTaskMethod(message.method) || isStatelessOnly(message.method)) return wholeAnswer(call, methodNotServed(message.id), "handshake");
  const empty = () => wholeAnswer(call, resultText(message.id, "{}"), "handshake");
  if (message.method === "ping") return empty();
  if (message.method === "logging/setLevel") {
    const { level } = message.params;
    if (!isLogLevel(level)) return refuse("rpc_invalid_params", "params.level must be one of the protocol's log levels.");
    return (await noteOrRefuse(() => parts.sessionState.setLogLevel(noted, level))) ?? empty();
  }
  if (
    (message.method === "resources/subscribe" || message.method === "resources/unsubscribe") &&
    !(isObject(server.capabilities.resources) && server.capabilities.resources.subscribe === true)
  )
    return wholeAnswer(call, methodNotServed(message.id), "handshake");
  if (message.method === "resources/subscribe" || message.method === "resources/unsubscribe")
    return (await subscribed(message, noted, parts)) ?? empty();
  call.whenEnded.push(cancellableRequest(parts, token, message.id ?? "", call.abort));
  if (takesEvents(call.headers)) return relayAnswer(call, cancellable(call, server.forward(message, sender, token)), "handshake");
  // A caller that does not accept event streams cannot be asked anything.
  const unasked = { ...sender, capabilities: {} };
  return wholeRelayAnswer(call, cancellable(call, server.forward(message, unasked, token)), "handshake");
}

/** A cancelled request gets no answer; its stream just ends. */
async function* cancellable(call: Call, relay: Relay): Relay {
  const refusal = yield* relay;
  return abortReason(call) === "client_disconnected" ? refuse("upstream_interrupted", "The request was cancelled.") : refusal;
}
