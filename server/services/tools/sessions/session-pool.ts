import type { ToolServerEntry } from "../../../directory/tools/tool-server-entry.ts";
import { type Refusal, isRefusal, reasonOf, refuse } from "../../../kernel/errors.ts";
import { cancelQuietly } from "../../../kernel/http/cancel-quietly.ts";
import { type JsonObject, type JsonValue, isObject } from "../../../kernel/json-value.ts";
import { HANDSHAKE_VERSIONS } from "../../../wire/mcp/dialect.ts";
import { requestText } from "../../../wire/mcp/rpc.ts";
import { digestOf } from "../../../wire/mcp/tool-definitions.ts";
import { finalMessage, upstreamMessages } from "../forwarding/upstream-messages.ts";
import type { ToolParts } from "../tool-parts.ts";
import type { PooledSession } from "../forwarding/exchange.ts";

const TIMEOUT_MS = 30_000;
export const JSON_AND_EVENTS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** The server's version; null if it declares none. */
export function versionOf({ serverInfo }: Pick<PooledSession, "serverInfo">): string | null {
  return typeof serverInfo?.version === "string" ? serverInfo.version : null;
}

export interface Handshake {
  readonly owner: string;
  readonly capabilities: JsonObject;
  readonly clientInfo: JsonObject | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** In characters. Limits each session's copy of the server's description, because there may be very many sessions. */
const MAX_DESCRIPTION_LENGTH = 64 * 1024;
const MAX_INSTRUCTIONS_LENGTH = 20_000;
const MAX_VERSION_LENGTH = 100;

export function longestInstructions(instructions: JsonValue | undefined): string | null {
  return typeof instructions === "string" ? instructions.slice(0, MAX_INSTRUCTIONS_LENGTH) : null;
}

/** The self-description of a server or client: complete, or only name and version if it exceeds `longest` characters. */
export function truncatedInfo(info: JsonObject, longest: number): JsonObject {
  if (JSON.stringify(info).length <= longest) return info;
  return { name: String(info.name ?? "").slice(0, 200), version: String(info.version ?? "").slice(0, 200) };
}

/**
 * The pooled session for these terms, begun if there is none. Its headers are those of the first call. Concurrent calls share one
 * handshake.
 */
export async function pooledSession(
  server: ToolServerEntry,
  terms: Handshake,
  parts: Pick<ToolParts, "send" | "memory">,
): Promise<PooledSession | Refusal> {
  // A digest, because capabilities may be megabytes long and the key is kept.
  const key = [server.id, server.url, terms.owner, digestOf(terms.capabilities), terms.headers.authorization ?? ""].join("\n");
  const there = parts.memory.sessions.get(key);
  if (there !== undefined) return usedNow((await there) as PooledSession | Refusal);
  const begun = begin(key, server, terms, parts);
  parts.memory.sessions.set(key, begun);
  const session = await begun;
  if (isRefusal(session)) parts.memory.sessions.delete(key);
  return session;
}

function usedNow(session: PooledSession | Refusal): PooledSession | Refusal {
  if (!isRefusal(session)) session.usedAt = performance.now();
  return session;
}

/** Discards a session that is over: the next call begins another, and listeners are told that it ended. */
export function dropSession(session: PooledSession, { memory }: Pick<ToolParts, "memory">): void {
  // Several calls may notice this one after another, when a new session may already use the key.
  if (session.over) return;
  session.over = true;
  memory.sessions.delete(session.key);
  // A server may drop a session but keep its stream open, on which nothing would arrive any more.
  memory.feeds.get(session.key)?.abort.abort("session_over");
}

export function sessionHeaders(session: Pick<PooledSession, "id" | "version">): Record<string, string> {
  return { "mcp-protocol-version": session.version, ...(session.id === null ? {} : { "mcp-session-id": session.id }) };
}

async function begin(
  key: string,
  server: ToolServerEntry,
  terms: Handshake,
  { send }: Pick<ToolParts, "send">,
): Promise<PooledSession | Refusal> {
  const timeoutMs = Math.min(server.timeoutMs, TIMEOUT_MS);
  const params = {
    protocolVersion: HANDSHAKE_VERSIONS[0],
    capabilities: terms.capabilities,
    clientInfo: terms.clientInfo ?? { name: "gatehouse", version: "1" },
  };
  const headers = { ...terms.headers, ...JSON_AND_EVENTS };
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort("upstream_timeout"), timeoutMs);
  try {
    const response = await send({
      url: server.url,
      method: "POST",
      headers,
      body: requestText(0, "initialize", JSON.stringify(params)),
      abort,
      timeoutMs,
    });
    if (isRefusal(response)) return response;
    const answer = response.ok ? await finalMessage(upstreamMessages(response), 0) : null;
    if (!response.ok) await cancelQuietly(response.body);
    const result = answer?.value.result;
    if (!isObject(result) || typeof result.protocolVersion !== "string" || result.protocolVersion.length > MAX_VERSION_LENGTH)
      return refuse("upstream_invalid_response", "The tool server did not take the handshake.", {
        reason: `initialize was answered ${response.status}`,
      });
    const capabilities = isObject(result.capabilities) ? result.capabilities : {};
    if (JSON.stringify(capabilities).length > MAX_DESCRIPTION_LENGTH)
      return refuse("upstream_invalid_response", "The tool server says more of what it can do than can be kept.");
    const session: PooledSession = {
      key,
      url: server.url,
      headers: terms.headers,
      id: response.headers.get("mcp-session-id"),
      version: result.protocolVersion,
      serverInfo: isObject(result.serverInfo) ? truncatedInfo(result.serverInfo, MAX_DESCRIPTION_LENGTH) : null,
      capabilities,
      instructions: longestInstructions(result.instructions),
      nextId: 1,
      usedAt: performance.now(),
      logLevel: null,
      over: false,
      feedless: false,
      exchanges: new Map(),
      subscriptions: new Map(),
    };
    const initializeResponse = await send({
      url: server.url,
      method: "POST",
      headers: { ...headers, ...sessionHeaders(session) },
      body: requestText(null, "notifications/initialized", null),
      abort,
      timeoutMs,
    });
    if (!isRefusal(initializeResponse)) await cancelQuietly(initializeResponse.body);
    return session;
  } catch (error) {
    return refuse("upstream_unreachable", "The tool server broke off the handshake.", { reason: reasonOf(error) });
  } finally {
    clearTimeout(timer);
  }
}
