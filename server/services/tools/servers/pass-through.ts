import { restrictsTools } from "../../../directory/tools/tool-access.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { isEventStream } from "../../../upstreams/tool-servers/event-stream.ts";
import { type Refusal, isRefusal, reasonOf, refuse } from "../../../kernel/errors.ts";
import { exactValue } from "../../../kernel/text/exact-numbers.ts";
import { headersNamed } from "../../../kernel/http/request-headers.ts";
import { type JsonObject, type JsonValue, isObject } from "../../../kernel/json-value.ts";
import { APPS_HOST } from "../../../wire/mcp/apps.ts";
import { mirroredHeaders } from "../../../wire/mcp/headers.ts";
import { isGatewayRequestId } from "../forwarding/gateway-request-id.ts";
import { KEEP_ALIVE, KEEP_ALIVE_MS, withKeepAlive } from "../answers/keep-alive.ts";
import { unclearMessage } from "../forwarding/unclear-message.ts";
import { type RpcId, answers, errorMember, messagesIn, readUpstreamRpc, errorText, idIn, memberText } from "../../../wire/mcp/rpc.ts";
import { paramMismatch, writeParamHeaders } from "../../../wire/mcp/param-headers.ts";
import { type AbortReason, type Call, abortReason } from "../../../road/call.ts";
import type { ToolTarget } from "../../../road/target.ts";
import { noteRequest } from "../../../road/record/finish.ts";
import { addTag } from "../../../road/record/add-tag.ts";
import { readAnswerBody } from "../../../road/answers/read-answer.ts";
import type { Answer } from "../../../road/answer.ts";
import type { SealApproval } from "../approvals/approval-chain.ts";
import { cancelRequest } from "../forwarding/cancellation.ts";
import { deliverClientAnswer } from "../questions/client-answers.ts";
import { recordTarget } from "../../../road/outlet.ts";
import { knownTool } from "../definitions/listed-tools.ts";
import { answerInStream, takesEvents } from "../answers/answer-in-stream.ts";
import { answersContent, mustBeRead, QUESTION_WITHHELD, textGate, inspectedText } from "../answers/answer-gate.ts";
import { answerJudge } from "../answers/answer-judge.ts";
import { type JudgeAnswer, judgedStream, type JudgeMessage } from "../answers/judged-stream.ts";
import { acceptedAnswer, errorIn } from "../answers/relay.ts";
import { RpcStream, SENDER } from "../answers/rpc-stream.ts";
import { JSON_AND_EVENTS } from "../sessions/session-pool.ts";
import { boundEventIds, upstreamEventId } from "../sessions/event-ids.ts";
import { passedSession, upstreamSession } from "../sessions/session-token.ts";
import type { ToolParts } from "../tool-parts.ts";
import { principalOf } from "../../../road/principal.ts";
import type { ToolRequest } from "../tool-request.ts";
import { isConnecting } from "../definitions/guarded-instructions.ts";
import { untilAnswered } from "../answers/until-answered.ts";
import { refusesCredential } from "../forwarding/upstream-credentials.ts";
import { noteUpstreamId } from "../forwarding/upstream-request-id.ts";
import { clientSupportOf, isJson } from "../answers/response-heads.ts";
import { isReadAsText } from "../../../wire/texts/text-file.ts";
import { UNBUFFERED } from "../../../wire/streams/stream-headers.ts";

/** Caller headers that the protocol defines; headers that mirror the body are added separately. */
const PASSED = ["accept", "content-type", "mcp-protocol-version", "last-event-id"] as const;
const ANSWERED = ["content-type", "retry-after", "allow", "mcp-protocol-version"] as const;

/**
 * Forwards a request in its own dialect, byte for byte, and its answer likewise. Governance changes only this: session IDs, and event IDs
 * of streams without a session, are bound to the caller, and lists lose what the caller may not use.
 */
export async function passThrough(
  call: Call,
  request: ToolRequest,
  target: ToolTarget,
  parts: ToolParts,
  carryOn: SealApproval | null = null,
): Promise<Answer | Refusal> {
  const { server } = target;
  const { message } = request;
  const owner = `${principalOf(call)}\n${server.id}`;
  const credentials = await parts.credentials.headersFor(call, server);
  if (isRefusal(credentials)) return credentials;
  const headers: Record<string, string> = {
    ...headersNamed(PASSED, call.headers),
    // The body was read as UTF-8, so the caller's charset must not be passed on.
    ...(message === null ? {} : JSON_AND_EVENTS),
    ...credentials,
  };
  // The capabilities of a handshake client without a session are unknown.
  let client: JsonObject | null = request.envelope?.capabilities ?? null;
  let shows = clientSupportOf(message);
  const token = call.headers.get("mcp-session-id");
  if (token !== null && request.envelope === null) {
    const session = upstreamSession(parts.secrets, owner, token);
    if (session === null) return refuse("session_not_found");
    headers["mcp-session-id"] = session.id;
    shows = session.shows;
    client = shows.apps ? APPS_HOST : {};
    if (message?.kind === "response" && isGatewayRequestId(parts, message.id)) {
      await deliverClientAnswer(parts, token, message.id, exactValue(message.document.text()) as JsonObject);
      return acceptedAnswer();
    }
    // The cancelled request may be held in the gateway, unknown to the server.
    if (message?.method === "notifications/cancelled") await cancelRequest(parts, token, message);
  }
  const eventId = call.headers.get("last-event-id");
  if (eventId !== null && headers["mcp-session-id"] === undefined) {
    const known = upstreamEventId(parts.secrets, owner, eventId);
    if (known === null) return refuse("event_not_found");
    headers["last-event-id"] = known;
  }
  if (request.envelope !== null && message?.method != null) {
    const mirrored =
      message.method === "tools/call" && request.capability !== null
        ? (knownTool(parts.memory, server, request.capability.name)?.params ?? [])
        : [];
    const mismatch = paramMismatch(mirrored, () => argumentsAsSent(request), call.headers);
    if (mismatch !== null) return refuse("rpc_header_mismatch", mismatch);
    Object.assign(
      headers,
      mirroredHeaders(request.envelope.version, message.method, request.capability, {
        ...request.paramHeaders,
        ...writeParamHeaders(mirrored, message.params.arguments),
      }),
    );
  }
  // Only members that were changed are serialized again.
  const body = message === null ? request.body : message.document.text();
  const url = request.subPath === null ? server.url : `${server.baseUrl}${request.subPath}`;
  const unrecorded = recordTarget(call, url, body, parts);
  if (unrecorded !== null) return unrecorded;
  const { method } = call;
  const upstreamResponse = parts.send({
    url,
    method,
    headers,
    abort: call.abort,
    timeoutMs: server.timeoutMs,
    ...(body === null || method === "GET" ? {} : { body }),
  });
  noteRequest(call);
  const response = await upstreamResponse;
  if (isRefusal(response)) return response;
  noteUpstreamId(call, response);
  const refused = refusesCredential(response) ? await parts.credentials.refused(call, server, response) : null;
  if (refused !== null) return refused;
  if (response.status >= 300 && response.status < 400)
    return refuse("upstream_invalid_response", "The tool server answered with a redirect, which is not followed.");
  if (response.status >= 500 && !isJson(response)) {
    await cancelQuietly(response.body);
    return refuse("upstream_error", `The tool server failed (HTTP ${response.status}).`);
  }
  const own = response.headers.get("mcp-session-id");
  const answered = {
    ...headersNamed(ANSWERED, response.headers),
    ...(own === null ? {} : { "mcp-session-id": passedSession(parts.secrets, owner, own, shows) }),
  };
  const edit = answerJudge(call, request, target, parts, client, carryOn);
  const id = message?.id ?? null;
  const awaited: Awaited = {
    id,
    unread: ifUnreadable(call, request, target, parts),
    mustAnswer: isAnswered(request),
    timeoutMs: server.timeoutMs,
  };
  if (!response.ok || !isEventStream(response) || response.body === null) return whole(call, response, answered, edit, awaited, parts);
  const endless = message?.method === "subscriptions/listen";
  if (message?.kind === "request" && !endless && !takesEvents(call.headers)) {
    const read = await answerInStream(call, response, id, server.timeoutMs);
    return isRefusal(read) ? read : whole(call, read, { ...answered, "content-type": "application/json" }, edit, awaited, parts);
  }
  // A stateless server must not send requests, so it gets no responses either.
  const respond = async (answerText: string) => {
    const sentResponse = await parts.send({
      ...{ url, method: "POST", headers: { ...headers, ...JSON_AND_EVENTS }, body: answerText },
      ...{ abort: new AbortController(), timeoutMs: server.timeoutMs },
    });
    if (!isRefusal(sentResponse)) await sentResponse.body?.cancel().catch(() => undefined);
  };
  const judge = judgeFor(call, request.envelope === null ? respond : null, parts);
  const hasSession = headers["mcp-session-id"] !== undefined || own !== null;
  const judged = judgedStream(response.body, edit, judge, hasSession ? null : boundEventIds(parts.secrets, owner));
  return stream(call, id, judged, answered, endless ? Number.POSITIVE_INFINITY : server.timeoutMs);
}

/** The arguments as the caller sent them: its headers mirror these, not what controls have changed. */
function argumentsAsSent({ body, message }: ToolRequest): JsonValue | undefined {
  const sent: unknown = body === null ? message?.document.value : JSON.parse(new TextDecoder().decode(body));
  return isObject(sent) && isObject(sent.params) ? sent.params.arguments : undefined;
}

/** Whether the protocol requires an answer to the request. */
function isAnswered({ message, subPath }: ToolRequest): boolean {
  return message?.kind === "request" && subPath === null;
}

/** How to treat an answer that is not a message of the protocol. */
interface Unread {
  /** Why it is withheld; null lets it pass. */
  readonly why: string | null;
  /** Whether it should have been inspected. */
  readonly held: boolean;
}

function ifUnreadable(call: Call, request: ToolRequest, { access, limits }: ToolTarget, parts: Pick<ToolParts, "gates">): Unread {
  const { message } = request;
  const isList = message?.method === "tools/list";
  const isInspectable = message?.kind === "request" && request.subPath === null;
  if (
    (isInspectable && mustBeRead(call, parts)) ||
    ((isList || isConnecting(message?.method)) && parts.gates.enforces(call, "mcp_registration"))
  )
    return { why: "The tool server's answer cannot be read, so the guardrails of this resource group could not look at it.", held: true };
  const held = isList ? restrictsTools(access) : answersContent(request) && Object.values(limits).some((limit) => limit !== null);
  // Below its endpoint a server may answer anything, unless the answer must be inspected.
  return { why: held || isAnswered(request) ? "The tool server's answer is no message of the protocol." : null, held };
}

/** Inspects what a server sends besides its answers; null if nothing inspects it. */
function judgeFor(call: Call, respond: ((said: string) => Promise<void>) | null, parts: ToolParts): JudgeMessage | null {
  if (!parts.gates.inspects(call, "mcp_output")) return null;
  return async ({ text, value }) => {
    const inspected = await inspectedText(call, { text, value }, parts);
    const question = inspected === null && typeof value?.method === "string" ? idIn(memberText(text, "id"), value.id) : null;
    if (question !== null) await respond?.(errorText(question, QUESTION_WITHHELD));
    return inspected;
  };
}

function stream(
  call: Call,
  id: RpcId | null,
  { body: judged, verdicts }: ReturnType<typeof judgedStream>,
  headers: Record<string, string>,
  timeoutMs: number,
): Answer {
  call.row.proxy_subtype = "sse_stream";
  const codec = new RpcStream(id, (answer) => {
    if (errorIn(call, answer.value) !== null) addTag(call, "rpc_error");
    const verdict = verdicts.get(answer.text);
    // A result without a verdict must never pass; an error without one needs no judgement.
    return verdict === undefined && answer.value.result !== undefined ? refuse("internal_error") : (verdict ?? null);
  });
  // Without a request, or while the caller is being asked for something, silence is no failure.
  const tooSilent = () => {
    if (id !== null && !codec.asked) call.abort.abort("upstream_timeout" satisfies AbortReason);
  };
  return {
    kind: "stream",
    status: 200,
    headers: { ...headers, ...UNBUFFERED },
    upstream: withKeepAlive(untilAnswered(judged, codec), KEEP_ALIVE_MS, { ms: timeoutMs, over: tooSilent }),
    codec,
    head: id === null ? [KEEP_ALIVE] : [],
    inputCharacters: null,
    sender: SENDER,
    endless: id === null,
    refusal: (ended) => (ended ? codec.refusal : null),
  };
}

interface Awaited {
  readonly id: RpcId | null;
  readonly unread: Unread;
  readonly mustAnswer: boolean;
  readonly timeoutMs: number;
}

async function whole(
  call: Call,
  response: Response,
  headers: Record<string, string>,
  edit: JudgeAnswer,
  { id, unread, mustAnswer, timeoutMs }: Awaited,
  parts: ToolParts,
): Promise<Answer | Refusal> {
  let bytes: Uint8Array;
  const timer = setTimeout(() => call.abort.abort("upstream_timeout" satisfies AbortReason), timeoutMs);
  try {
    bytes = await readAnswerBody(response);
  } catch (error) {
    return abortReason(call) === "upstream_timeout"
      ? refuse("upstream_timeout", "The tool server did not answer in time.")
      : refuse("upstream_interrupted", "The tool server broke off its answer.", { reason: reasonOf(error) });
  } finally {
    clearTimeout(timer);
  }
  const text = bytes.byteLength > 0 ? new TextDecoder().decode(bytes) : null;
  // Parsed whatever its content type, because a client may do the same.
  const answer = text === null || id === null ? text : answerIn(text, id);
  const value = answer === null ? null : readUpstreamRpc(answer);
  const isNone = value === null || (value.result === undefined && errorMember(value) === null);
  if ((mustAnswer && isNone) || (text !== null && value === null)) {
    // 202 means that there is no answer, and of an error only the status matters.
    if (unread.why !== null && response.ok && response.status !== 202) return refuse("upstream_invalid_response", unread.why);
    if (unread.held && value === null) bytes = new Uint8Array(0);
  }
  if (value === null && bytes.byteLength > 0) {
    const inspected = await inspectedFile(call, response, bytes, parts);
    if (isRefusal(inspected)) return inspected;
    bytes = inspected;
  }
  const unclear = value === null || answer === null ? null : unclearMessage(answer, value);
  if (unclear !== null) return unclear;
  const isError = value !== null && errorIn(call, value) !== null;
  const changed = value === null || answer === null ? null : await edit({ text: answer, value });
  if (changed !== null && typeof changed !== "string") return changed;
  // The row repeats only what the caller may have.
  const message = changed === null ? value : readUpstreamRpc(changed);
  const error = isError && message !== null ? errorMember(message) : null;
  if (message !== null) noteServerVersion(call, message.result);
  const failure =
    error !== null
      ? `error ${String(error.code)}: ${String(error.message).slice(0, 300)}`
      : response.status >= 400
        ? `the tool server answered ${response.status}`
        : null;
  return {
    kind: "whole",
    status: response.status,
    headers,
    body: changed === null && (value === null || answer === text) ? bytes : new TextEncoder().encode(changed ?? answer ?? ""),
    usage: null,
    failure,
  };
}

/** Inspects an answer that is not a message. Binary content is not inspected. */
async function inspectedFile(call: Call, response: Response, bytes: Uint8Array, parts: ToolParts): Promise<Uint8Array | Refusal> {
  if (!parts.gates.inspects(call, "mcp_output")) return bytes;
  const type = response.headers.get("content-type")?.split(";", 1)[0] ?? "";
  if (!isReadAsText(type, null, Buffer.from(bytes).toString("base64"))) return bytes;
  const inspected = await textGate(call, new TextDecoder().decode(bytes), parts);
  return typeof inspected === "string" ? new TextEncoder().encode(inspected) : (inspected ?? bytes);
}

/** The message of an answer; of a batch, the one that answers the request, null if none does. */
function answerIn(text: string, id: RpcId): string | null {
  const messages = messagesIn(text);
  return messages.length === 1 ? (messages[0] ?? null) : (messages.find((message) => answers(readUpstreamRpc(message) ?? {}, id)) ?? null);
}

function noteServerVersion(call: Call, result: unknown): void {
  if (call.row.mcp_method !== "initialize" || !isObject(result) || !isObject(result.serverInfo)) return;
  if (typeof result.serverInfo.version === "string") call.row.server_version = result.serverInfo.version.slice(0, 200);
}
