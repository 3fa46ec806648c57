import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { isEventStream } from "../../../upstreams/tool-servers/event-stream.ts";
import { type Refusal, refuse, Refused, isRefusal } from "../../../kernel/errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../kernel/json-value.ts";
import { handshakeParams, type McpSender, statelessParams } from "../../../wire/mcp/bridge.ts";
import type { Capability } from "../../../wire/mcp/capability.ts";
import { isStatelessVersion, STATELESS_VERSION } from "../../../wire/mcp/dialect.ts";
import { mirroredHeaders } from "../../../wire/mcp/headers.ts";
import { logsAt } from "../../../wire/mcp/log-levels.ts";
import { writeParamHeaders } from "../../../wire/mcp/param-headers.ts";
import { progressTokenOf, underOwnToken, withProgressToken } from "../../../wire/mcp/progress.ts";
import { requestText, type RpcId } from "../../../wire/mcp/rpc.ts";
import type { Call } from "../../../road/call.ts";
import { answerInTime } from "./answer-in-time.ts";
import { callerToken } from "../authorization/caller-token.ts";
import { principalOfIdentity } from "../authorization/principal.ts";
import { storedTokens } from "../authorization/token-renewal.ts";
import { forgotSession } from "../sessions/forgotten-session.ts";
import { keepFeed } from "../changes/kept-feed.ts";
import { MessageInterleaver } from "./message-interleaver.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { knownTool, rememberTools } from "../definitions/listed-tools.ts";
import { dropSession, JSON_AND_EVENTS, pooledSession, sessionHeaders, versionOf } from "../sessions/session-pool.ts";
import type { PooledSession } from "./exchange.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import { refusesCredential } from "./upstream-credentials.ts";
import { finalMessage, messagesToAnswer, type UpstreamMessage, upstreamMessages } from "./upstream-messages.ts";
import type { Asked } from "./exchange.ts";
import { noteUpstreamId } from "./upstream-request-id.ts";

/** A request to a server, independent of the server's dialect. */
export interface ServerRequest {
  readonly method: string;
  /** JSON text in the caller's exact spelling. */
  readonly params: string | null;
  readonly capability: Capability | null;
  readonly arguments: JsonValue | undefined;
  readonly sender: McpSender;
  readonly id: RpcId;
}

/** Sends the request to the server. A refusal if no message can come back. */
export async function openExchange(call: Call, server: ToolServerEntry, ask: ServerRequest, parts: ToolParts): Promise<Asked | Refusal> {
  return server.dialect === "stateless" ? askStateless(call, server, ask, parts, true) : askHandshake(call, server, ask, parts, true);
}

/** Cancels a request at a handshake server, where closing the connection does not mean cancellation. */
export function cancelExchange({ session, id, respond }: Asked, reason: string): void {
  if (session !== null) void respond(requestText(null, "notifications/cancelled", JSON.stringify({ requestId: id, reason })));
}

async function askStateless(
  call: Call,
  server: ToolServerEntry,
  ask: ServerRequest,
  parts: ToolParts,
  mayRetry: boolean,
): Promise<Asked | Refusal> {
  const version = isStatelessVersion(server.protocolVersion) ? server.protocolVersion : STATELESS_VERSION;
  const body = requestText(ask.id, ask.method, statelessParams(ask.params, { ...ask.sender, version }));
  const mirrored =
    ask.method === "tools/call" && ask.capability !== null ? (knownTool(parts.memory, server, ask.capability.name)?.params ?? []) : [];
  const credentials = await parts.credentials.headersFor(call, server);
  if (isRefusal(credentials)) return credentials;
  const headers = {
    ...JSON_AND_EVENTS,
    ...credentials,
    ...mirroredHeaders(version, ask.method, ask.capability, writeParamHeaders(mirrored, ask.arguments)),
  };
  const unrecorded = recordTarget(call, server.url, body, parts);
  if (unrecorded !== null) return unrecorded;
  const { abort, detach, end } = linkedAbort(call);
  const response = await parts.send({ url: server.url, method: "POST", headers, body, abort, timeoutMs: server.timeoutMs });
  if (isRefusal(response)) return response;
  noteUpstreamId(call, response);
  if (response.status === 400 && ask.method === "tools/call" && mayRetry && !isEventStream(response)) {
    const answer = await answerInTime(finalMessage(upstreamMessages(response), ask.id), server.timeoutMs, abort);
    if (answer !== null && isRefusal(answer)) return answer;
    const error = answer?.value.error;
    if (isObject(error) && error.code === -32020) {
      end();
      const refusal = await relist(call, server, ask, parts);
      return refusal ?? askStateless(call, server, ask, parts, false);
    }
    return { messages: only(answer), id: ask.id, session: null, serverInfo: null, abort, detach, end, respond: nothing };
  }
  const refusal = await refusalOf(call, server, response, parts);
  return (
    refusal ?? { messages: upstreamMessages(response), id: ask.id, session: null, serverInfo: null, abort, detach, end, respond: nothing }
  );
}

/** Lists the tools again, because the arguments to mirror in headers may have changed. Returns a refusal only if the server timed out. */
async function relist(call: Call, server: ToolServerEntry, ask: ServerRequest, parts: ToolParts): Promise<Refusal | null> {
  const exchange = await askStateless(call, server, { ...ask, method: "tools/list", params: null, capability: null }, parts, false);
  if (isRefusal(exchange)) return null;
  try {
    const answer = await answerInTime(finalMessage(exchange.messages, exchange.id), server.timeoutMs, exchange.abort);
    if (answer !== null && isRefusal(answer)) return answer;
    const result = answer?.value.result;
    if (isObject(result) && Array.isArray(result.tools)) rememberTools(parts.memory, server, result.tools);
    return null;
  } finally {
    exchange.end();
  }
}

async function askHandshake(
  call: Call,
  server: ToolServerEntry,
  ask: ServerRequest,
  parts: ToolParts,
  mayRetry: boolean,
): Promise<Asked | Refusal> {
  const credentials = await parts.credentials.headersFor(call, server);
  if (isRefusal(credentials)) return credentials;
  const { capabilities, clientInfo } = ask.sender;
  const unrecorded = recordTarget(call, server.url, requestText(ask.id, ask.method, ask.params), parts);
  if (unrecorded !== null) return unrecorded;
  const session = await pooledSession(
    server,
    { owner: await sessionOwner(call, server, ask.sender, parts), capabilities, clientInfo, headers: credentials },
    parts,
  );
  if (isRefusal(session)) return session;
  call.row.server_version ??= versionOf(session);
  // The session is shared by many calls, so each request needs its own ID.
  const id = session.nextId++;
  const headers = { ...JSON_AND_EVENTS, ...credentials, ...sessionHeaders(session) };
  const post = (body: string, abort: AbortController, timeoutMs = server.timeoutMs) =>
    parts.send({ url: server.url, method: "POST", headers, body, abort, timeoutMs });
  const respond = async (body: string) => {
    const postResponse = await post(body, new AbortController());
    if (!isRefusal(postResponse)) await cancelQuietly(postResponse.body);
  };
  // In this dialect closing the connection does not end the request; it must be cancelled explicitly.
  const { abort, detach, end } = linkedAbort(
    call,
    () => void respond(requestText(null, "notifications/cancelled", JSON.stringify({ requestId: id, reason: "the caller hung up" }))),
  );
  const interleaver = new MessageInterleaver();
  session.exchanges.set(id, interleaver.receive);
  const over = () => {
    session.exchanges.delete(id);
    end();
  };
  const params = handshakeParams(ask.params);
  const tokened = withProgressToken(params, params === null ? undefined : (JSON.parse(params) as JsonObject), id);
  let posted: Promise<Response | Refusal>;
  let response: Response | Refusal | null;
  try {
    if (tokened !== null || ASKING.some((capability) => capabilities[capability] !== undefined && !ask.method.endsWith("/list")))
      await keepFeed(session, server, credentials, parts);
    if (ask.sender.logLevel !== null) await setLevel(session, ask.sender.logLevel, post);
    posted = post(requestText(id, ask.method, tokened?.params ?? params), abort, HEAD_MS);
    // A server that does not stream its answer may ask on the session's stream before it sends response headers.
    response = await answerInTime(Promise.race([posted, interleaver.arrived()]), server.timeoutMs, abort);
    if (response !== null && isRefusal(response)) {
      over();
      return response;
    }
    if (response !== null && mayRetry && session.id !== null) {
      const forgot = await answerInTime(forgotSession(response), server.timeoutMs, abort);
      if (forgot !== false) {
        over();
        if (forgot !== true) return forgot;
        dropSession(session, parts);
        return askHandshake(call, server, ask, parts, false);
      }
    }
    const refusal = response === null ? null : await headOf(call, server, response, parts);
    if (refusal !== null) {
      over();
      return refusal;
    }
  } catch (error) {
    // An exchange that is never removed would keep the session in use.
    over();
    throw error;
  }
  const readOn = async (lastEventId: string) => {
    const more = await parts.send({
      url: server.url,
      method: "GET",
      headers: { ...headers, accept: "text/event-stream", "last-event-id": lastEventId },
      abort,
      timeoutMs: server.timeoutMs,
    });
    if (isRefusal(more)) return null;
    if (more.ok && isEventStream(more)) return more;
    await cancelQuietly(more.body);
    return null;
  };
  async function* answered(): AsyncGenerator<UpstreamMessage, void> {
    const late = response ?? (await posted);
    const refused = isRefusal(late) ? late : response === null ? await headOf(call, server, late, parts) : null;
    if (refused !== null || isRefusal(late)) throw new Refused(refused ?? (late as Refusal));
    yield* messagesToAnswer(late, id, readOn, abort.signal);
  }
  const messages = interleaver.interleave(answered());
  return {
    messages: tokened === null ? messages : underOwnTokens(messages, id, tokened.own),
    id,
    session,
    serverInfo: session.serverInfo,
    abort,
    detach,
    end: over,
    respond: respond,
  };
}

/** In effect no limit: whoever waits for the response headers sets one. */
const HEAD_MS = 86_400_000;

/** Reads the response headers. Returns a refusal if the response is an error that is not a message of the protocol. */
async function headOf(call: Call, server: ToolServerEntry, response: Response, parts: ToolParts): Promise<Refusal | null> {
  noteUpstreamId(call, response);
  return refusalOf(call, server, response, parts);
}

async function* underOwnTokens(
  messages: AsyncGenerator<UpstreamMessage, void>,
  id: number,
  own: string,
): AsyncGenerator<UpstreamMessage, void> {
  for await (const message of messages)
    yield progressTokenOf(message.value) === id ? { ...message, text: underOwnToken(message.text, own) } : message;
}

/**
 * The owner of a session with a server: the caller's own session if it has one, otherwise the principal. With stored OAuth tokens the
 * connected account is included, so that a session begun with one account is never continued with another.
 */
export async function sessionOwner(
  call: Call,
  server: ToolServerEntry,
  { session }: Pick<McpSender, "session">,
  { authorization }: Pick<ToolParts, "authorization">,
): Promise<string> {
  const principal = session === null ? principalOf(call) : `${principalOf(call)}\n${session}`;
  // The caller's own token is part of the session key anyway, and stored tokens are then not used.
  if (server.authType !== "oauth" || call.identity === null || callerToken(server, call) !== null) return principal;
  const tokens = await storedTokens(authorization, principalOfIdentity(call.identity), server);
  return tokens === null ? principal : `${principal}\n${tokens.id} ${tokens.connectedAt}`;
}

/** Client capabilities that let a server send requests. */
const ASKING = ["elicitation", "sampling", "roots"];

/** Sets the session's log level to the most verbose one that any of its callers requested; messages are filtered per caller. */
async function setLevel(
  session: PooledSession,
  level: string,
  post: (body: string, abort: AbortController) => Promise<Response | Refusal>,
): Promise<void> {
  if (session.capabilities.logging === undefined || (session.logLevel !== null && logsAt(level, session.logLevel))) return;
  session.logLevel = level;
  const answer = await post(requestText(session.nextId++, "logging/setLevel", JSON.stringify({ level })), new AbortController());
  if (!isRefusal(answer)) await cancelQuietly(answer.body);
}

const nothing = async () => undefined;

async function* only(message: UpstreamMessage | null): AsyncGenerator<UpstreamMessage, void> {
  if (message !== null) yield message;
}

/** Returns a refusal for an error response that is not a message of the protocol. */
async function refusalOf(call: Call, server: ToolServerEntry, response: Response, parts: ToolParts): Promise<Refusal | null> {
  const refused = refusesCredential(response) ? await parts.credentials.refused(call, server, response) : null;
  if (refused !== null) return refused;
  if (response.ok || response.headers.get("content-type")?.includes("json") === true) return null;
  await cancelQuietly(response.body);
  return refuse("upstream_error", `The tool server failed (HTTP ${response.status}).`);
}

/** An abort controller that follows the call's until it is detached. */
function linkedAbort(call: Call, before: () => void = () => undefined): { abort: AbortController; detach: () => void; end: () => void } {
  const abort = new AbortController();
  const { signal } = call.abort;
  const follow = () => {
    before();
    abort.abort(signal.reason);
  };
  if (signal.aborted) abort.abort(signal.reason);
  else signal.addEventListener("abort", follow, { once: true });
  const detach = () => signal.removeEventListener("abort", follow);
  call.whenEnded.push((error) => {
    if (error !== "client_disconnected" && error !== "gateway_interrupted") detach();
  });
  const end = () => {
    detach();
    abort.abort("exchange_over");
  };
  return { abort, detach, end };
}
