import { type Refusal, refuse } from "../../kernel/errors.ts";
import { isObject, type JsonObject } from "../../wire/document.ts";
import type { Sender } from "../../wire/mcp/bridge.ts";
import { HANDSHAKE_VERSIONS, META, STATELESS_VERSION } from "../../wire/mcp/dialect.ts";
import { resultText, type RpcMessage } from "../../wire/mcp/rpc.ts";
import { abortReason, type Call } from "../call.ts";
import type { Answer, WholeAnswer } from "../surface.ts";
import { takeClientAnswer } from "./client-answers.ts";
import { type Relay, relayed, wholeAnswer } from "./relay.ts";
import { sealed, unsealed } from "./session-token.ts";
import { principalOf, type ToolParts } from "./tool-parts.ts";
import type { ToolRequest } from "./tool-request.ts";

/**
 * A server as the gateway itself shows it, in both dialects: a virtual one, or one that speaks the other dialect than
 * its caller. What is the protocol's own business is answered here; everything else is carried to the servers behind.
 */
export interface SynthesizedServer {
  readonly id: string;
  readonly info: { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions: string | null;
  /** Carries a request there, and the answer back. `session` is null of a stateless caller. */
  carry(message: RpcMessage, sender: Sender, session: string | null): Relay;
}

const PURPOSE = "mcp-session";
const GONE_FROM_STATELESS = new Set(["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]);
/** Not carried yet: a stream of changes over servers of both dialects. */
const NOT_CARRIED = new Set(["subscriptions/listen", "resources/subscribe", "resources/unsubscribe"]);

export async function serve(call: Call, request: ToolRequest, server: SynthesizedServer, parts: ToolParts): Promise<Answer | Refusal> {
  return request.envelope === null ? serveHandshake(call, request, server, parts) : serveStateless(call, request, server);
}

async function serveStateless(call: Call, { message, envelope }: ToolRequest, server: SynthesizedServer): Promise<Answer | Refusal> {
  if (message === null || envelope === null) return refuse("method_not_allowed", undefined, { headers: { allow: "POST" } });
  if (envelope.version !== STATELESS_VERSION) return refuse("rpc_unsupported_version", undefined, { extra: { supported: [STATELESS_VERSION], requested: envelope.version } });
  if (message.kind !== "request") return accepted();
  const { id } = message;
  if (message.method === "server/discover") {
    const result = { resultType: "complete", supportedVersions: [STATELESS_VERSION], capabilities: server.capabilities, ...(server.instructions === null ? {} : { instructions: server.instructions }), ttlMs: 0, cacheScope: "private", _meta: { [META.serverInfo]: server.info } };
    return wholeAnswer(call, resultText(id, JSON.stringify(result)), "stateless");
  }
  if (GONE_FROM_STATELESS.has(message.method ?? "") || NOT_CARRIED.has(message.method ?? "")) return refuse("rpc_method_not_found");
  const sender: Sender = { version: envelope.version, capabilities: envelope.capabilities, clientInfo: envelope.clientInfo, logLevel: null };
  return relayed(call, server.carry(message, sender, null), "stateless");
}

async function serveHandshake(call: Call, { message }: ToolRequest, server: SynthesizedServer, parts: ToolParts): Promise<Answer | Refusal> {
  const owner = `${principalOf(call)}\n${server.id}`;
  if (message?.method === "initialize" && message.kind === "request") return initialized(call, message, server, owner, parts);
  const token = call.request.headers.get("mcp-session-id");
  if (token === null) return refuse("session_required");
  const session = unsealed(parts.secrets, PURPOSE, owner, token);
  if (session === null) return refuse("session_not_found");
  if (message === null) return call.request.method === "DELETE" ? { kind: "whole", status: 204, headers: {}, body: new Uint8Array(0), usage: null, failure: null } : refuse("method_not_allowed", undefined, { headers: { allow: "POST, DELETE" } });
  if (message.kind === "response") {
    takeClientAnswer(parts.memory, token, String(message.id), message.document.value);
    return accepted();
  }
  if (message.kind === "notification") {
    if (message.method === "notifications/cancelled") parts.memory.underWay.get(`${token}\n${String(message.params.requestId)}`)?.abort("client_disconnected");
    return accepted();
  }
  const empty = () => wholeAnswer(call, resultText(message.id, "{}"), "handshake");
  if (message.method === "ping") return empty();
  if (message.method === "logging/setLevel") {
    if (typeof message.params.level === "string") parts.memory.logLevels.set(token, message.params.level);
    return empty();
  }
  if (NOT_CARRIED.has(message.method ?? "")) return { ...wholeAnswer(call, `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"error":{"code":-32601,"message":"Subscriptions are not carried to this server."}}`, "handshake"), status: 200 };
  const sender: Sender = {
    version: String(session.version),
    capabilities: isObject(session.capabilities) ? session.capabilities : {},
    clientInfo: isObject(session.client) ? session.client : null,
    logLevel: parts.memory.logLevels.get(token) ?? null,
  };
  const key = `${token}\n${String(message.id)}`;
  parts.memory.underWay.set(key, call.abort);
  call.whenEnded.push(() => parts.memory.underWay.delete(key));
  return relayed(call, cancellable(call, server.carry(message, sender, token)), "handshake");
}

/** A request its caller has cancelled gets no answer; its stream just ends. */
async function* cancellable(call: Call, relay: Relay): Relay {
  const refusal = yield* relay;
  return abortReason(call) === "client_disconnected" ? refuse("upstream_interrupted", "The request was cancelled.") : refusal;
}

function initialized(call: Call, message: RpcMessage, server: SynthesizedServer, owner: string, parts: ToolParts): WholeAnswer {
  const asked = message.params.protocolVersion;
  const version = (HANDSHAKE_VERSIONS as readonly unknown[]).includes(asked) ? String(asked) : HANDSHAKE_VERSIONS[0];
  const { capabilities, clientInfo } = message.params;
  const token = sealed(parts.secrets, PURPOSE, owner, { version, capabilities: isObject(capabilities) ? capabilities : {}, client: isObject(clientInfo) ? clientInfo : null, at: parts.clock.now() });
  const result = { protocolVersion: version, capabilities: server.capabilities, serverInfo: server.info, ...(server.instructions === null ? {} : { instructions: server.instructions }) };
  return wholeAnswer(call, resultText(message.id, JSON.stringify(result)), "handshake", { "mcp-session-id": token });
}

function accepted(): WholeAnswer {
  return { kind: "whole", status: 202, headers: {}, body: new Uint8Array(0), usage: null, failure: null };
}

/** What of a server's capabilities the gateway can carry across. */
export function carriedCapabilities(capabilities: Readonly<Record<string, unknown>>): JsonObject {
  const carried: JsonObject = {};
  for (const name of ["tools", "prompts", "resources", "completions", "extensions", "experimental"]) {
    const value = capabilities[name];
    // Changes are not told across, so nobody is promised that they are.
    if (isObject(value)) carried[name] = Object.fromEntries(Object.entries(value).filter(([member]) => member !== "listChanged" && member !== "subscribe"));
  }
  return carried;
}
