import { randomBytes } from "node:crypto";
import { isRefusal, type Refusal, refuse } from "../../kernel/errors.ts";
import { cancelQuietly } from "../../kernel/http/cancel-quietly.ts";
import { readUpstreamRpc } from "../../wire/mcp/rpc.ts";
import { frameData } from "../../wire/streams/sse-data.ts";
import { FrameCutter } from "../../wire/streams/sse-frames.ts";
import { isEventStream } from "./event-stream.ts";
import type { ToolServerRequest, ToolServerSend } from "./send.ts";
import { SseConnection } from "./sse-connection.ts";

/** How servers without the streamable HTTP transport answer a posted `initialize`. */
const NOT_TAKEN = new Set([400, 404, 405]);
const SESSION = "gatehouse-sse-";
/** Per tenant, server and credential. */
const MAX_CONNECTIONS = 256;

/**
 * Adapts servers that only know the HTTP+SSE transport (protocol version 2024-11-05). A session is a connection of this process; other
 * processes answer 404, as for any session that has ended.
 */
export function withSseServers(send: ToolServerSend): ToolServerSend {
  const connections = new Map<string, SseConnection>();
  return async (request) => {
    const session = request.headers["mcp-session-id"];
    if (session?.startsWith(SESSION) === true) {
      const connection = connections.get(session);
      if (connection === undefined || connection.parts.url !== request.url) return new Response(null, { status: 404 });
      // Keeps the map in order of last use.
      connections.delete(session);
      connections.set(session, connection);
      return connection.answer(request);
    }
    const response = await send(request);
    if (isRefusal(response) || !NOT_TAKEN.has(response.status) || !isInitialize(request)) return response;
    const opened = await connect(request, connections, send);
    if (opened === null) return response;
    await cancelQuietly(response.body);
    if (!(opened instanceof SseConnection)) return opened;
    const answer = await opened.answer(request);
    if (isRefusal(answer) || !answer.ok) opened.close();
    return answer;
  };
}

function isInitialize({ method, body, headers }: ToolServerRequest): boolean {
  if (method !== "POST" || headers["mcp-session-id"] !== undefined) return false;
  return typeof body === "string" && body.includes('"initialize"') && readUpstreamRpc(body)?.method === "initialize";
}

/** Null if the server has no such stream. An answer that refuses the credential is returned to the caller. */
async function connect(
  request: ToolServerRequest,
  connections: Map<string, SseConnection>,
  send: ToolServerSend,
): Promise<SseConnection | Response | Refusal | null> {
  const { url, tenantId, headers, abort: callerAbort, timeoutMs } = request;
  if (!madeRoom(request, connections))
    return refuse("upstream_unreachable", "The gateway has as many connections to this tool server as it may have.");
  const { "content-type": _type, ...others } = headers;
  const abort = new AbortController();
  const giveUp = () => abort.abort(callerAbort.signal.reason);
  const timer = setTimeout(() => abort.abort("upstream_timeout"), timeoutMs);
  if (callerAbort.signal.aborted) giveUp();
  else callerAbort.signal.addEventListener("abort", giveUp, { once: true });
  try {
    const response = await send({ url, method: "GET", headers: { ...others, accept: "text/event-stream" }, abort, timeoutMs });
    if (isRefusal(response)) return response;
    if (response.status === 401 || response.status === 403) return response;
    if (!response.ok || !isEventStream(response) || response.body === null) {
      await cancelQuietly(response.body);
      return null;
    }
    const reader = response.body.getReader();
    const cutter = new FrameCutter();
    const endpoint = await endpointOf(reader, cutter, url);
    if (isRefusal(endpoint)) {
      abort.abort("no_endpoint");
      return endpoint;
    }
    const id = SESSION + randomBytes(16).toString("hex");
    const closed = () => connections.delete(id);
    const connection = new SseConnection({ id, url, tenantId, endpoint: endpoint.href, headers, reader, cutter, abort, send, closed });
    connections.set(id, connection);
    return connection;
  } finally {
    clearTimeout(timer);
    callerAbort.signal.removeEventListener("abort", giveUp);
  }
}

/** Closes the least recently used idle connection if the limit is reached; false if all are in use. */
function madeRoom({ url, tenantId, headers }: ToolServerRequest, connections: ReadonlyMap<string, SseConnection>): boolean {
  const there = [...connections.values()].filter(
    ({ parts }) => parts.tenantId === tenantId && parts.url === url && parts.headers.authorization === headers.authorization,
  );
  if (there.length < MAX_CONNECTIONS) return true;
  const idle = there.find(({ isIdle }) => isIdle);
  idle?.close();
  return idle !== undefined;
}

/** The URL for posting messages, from the server's first event. */
async function endpointOf(reader: ReadableStreamDefaultReader<Uint8Array>, cutter: FrameCutter, url: string): Promise<URL | Refusal> {
  const none = (reason: string) =>
    refuse("upstream_invalid_response", "The tool server did not say where messages are posted.", { reason });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return none("its stream ended before an endpoint event");
      for (const frame of cutter.push(value)) {
        const text = new TextDecoder().decode(frame);
        const data = frameData(text);
        if (data === null) continue;
        if (!/^event: ?endpoint\s*$/m.test(text)) return none("its first event was no endpoint event");
        const endpoint = URL.parse(data.trim(), url);
        // Another origin would receive the gateway's credential.
        return endpoint?.origin === new URL(url).origin ? endpoint : none("its endpoint is at another origin");
      }
    }
  } catch {
    return none("its stream broke off before an endpoint event");
  }
}
